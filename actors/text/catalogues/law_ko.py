"""Korean, of the law."""

SENTENCES = {
    "legal_which_document": "어떤 문서를 작성할까요?",
    "legal_blanks": "아직 비어 있는 항목: {fields}",
    "legal_basis": "법적 근거:",
    "legal_sure": "요청하신 내용입니다:",
    "legal_perhaps": "질문과 가장 가까운 내용입니다. 적용 여부는 변호사가 판단해야 합니다:",
    "legal_nothing": "보유한 법령과 판례에는 이에 대한 답이 없습니다.",
    "legal_unread": "필요한 자료를 읽을 수 없었습니다({what}).",
    "legal_stands_in": (
        "담당 전문가가 답할 수 없어 일반적인 답변을 드립니다. 나중에 다시 시도하거나 변호사와 상담하십시오."
    ),
    "legal_unsourced": "이 답변에는 근거 자료가 없습니다.",
    "legal_what_it_does": (
        "법률에 관해 질문하십시오. 법령과 판례를 찾고, 판례를 비교하고, 문서를 "
        "작성하고, 계약서를 검토하며, 각 문장의 출처를 보여 드립니다."
    ),
    "legal_on": "{field}에 관하여:",
    "legal_silent": "다음에 관해서는 답을 얻지 못했습니다: {fields}. 나중에 다시 시도하거나 변호사와 상담하십시오.",
    "legal_disagree": "전문가들의 의견이 다음에서 서로 다릅니다:",
    "legal_disclaimer": "이 내용은 참고용이며 법률 자문이 아닙니다. 행동하기 전에 전문 변호사와 상담하십시오.",
    "source_statutes": "법령",
    "statute_version": "{day} 개정판",
    "statute_in_force": "{day}부터 시행",
    "statute_changed": "{day}부터 변경됨",
    "statutes_none": "아직 읽어 들인 법령이 없습니다.",
    "statute_missing": "현행 법령에 {articles}이(가) 없습니다.",
    "source_cases": "판례",
    "cases_none": "아직 읽어 들인 판례가 없습니다.",
    "case_key_points": "판결 요지:",
    "source_documents": "문서",
    "field_civil_law": "민법",
    "field_commercial_law": "상법",
    "field_administrative_law": "행정법",
    "field_criminal_law": "형법",
    "field_social_labor_law": "노동·사회보장법",
    "field_economic_law": "경제법",
    "field_procedure_law": "절차법",
    "field_constitution": "헌법",
    "field_other": "그 밖의 법 분야",
    "document_creation": "문서 작성",
}

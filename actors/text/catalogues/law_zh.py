"""Chinese, simplified, of the law."""

SENTENCES = {
    "legal_basis": "法律依据：",
    "legal_sure": "以下是所询问的内容：",
    "legal_perhaps": "以下内容与问题最接近，是否适用须由律师判断：",
    "legal_nothing": "现有法规和案例中没有对此的答案。",
    "legal_unread": "所需的资料都无法读取（{what}）。",
    "legal_stands_in": "负责该问题的专家暂时无法答复，以下为一般性回答。请稍后再试，或咨询律师。",
    "legal_unsourced": "此回复没有引用任何来源。",
    "legal_what_it_does": (
        "您可以询问法律问题：我可以查找法规和案例、比较案例、起草文书、审查合同，并说明每句话的出处。"
    ),
    "legal_on": "关于{field}：",
    "legal_silent": "以下方面暂时未能得到答复：{fields}。请稍后再试，或咨询律师。",
    "legal_disagree": "各专家在此处意见不一：",
    "legal_disclaimer": "以上内容仅供参考，不构成法律意见。采取行动之前，请咨询专业律师。",
    "source_statutes": "法规库",
    "statute_version": "{day} 版本",
    "statute_in_force": "自 {day} 起施行",
    "statute_changed": "自 {day} 起已修改",
    "statutes_none": "尚未导入任何法规。",
    "statute_missing": "现行法规中没有{articles}。",
    "source_documents": "文档",
    "field_civil_law": "民法",
    "field_commercial_law": "商法",
    "field_administrative_law": "行政法",
    "field_criminal_law": "刑法",
    "field_social_labor_law": "劳动与社会保障法",
    "field_economic_law": "经济法",
    "field_procedure_law": "程序法",
    "field_constitution": "宪法",
    "field_other": "其他法律领域",
}

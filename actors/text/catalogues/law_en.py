"""English, of the law."""

SENTENCES = {
    "legal_which_document": "Which document shall be drafted?",
    "legal_blanks": "Still blank, to be filled in before it is used: {fields}",
    "legal_basis": "Legal basis:",
    "legal_sure": "This is what was asked for:",
    "legal_perhaps": "These sources come closest to the question; whether they decide it, a lawyer has to say:",
    "legal_nothing": "The statutes and cases here do not answer this.",
    "legal_unread": "None of its sources could be read ({what}).",
    "legal_stands_in": (
        "The specialist for this could not be asked, so this is a general answer. Try again later, or ask a lawyer."
    ),
    "legal_unsourced": "This reply rests on no source.",
    "legal_unrecognized": (
        "I see no question of law in this. If there is one, please write again what happened and "
        "what you want to know or get."
    ),
    "legal_what_it_does": (
        "Ask about the law: I look up statutes and cases, compare cases, draft documents "
        "and read contracts, and show where each statement stands."
    ),
    "legal_on": "On {field}:",
    "legal_silent": "No answer could be had on: {fields}. Try again later, or ask a lawyer.",
    "legal_disagree": "Here the specialists disagree:",
    "legal_disclaimer": (
        "This is information, not legal advice. Please consult a professional lawyer before you act on it."
    ),
    "source_statutes": "the statutes",
    "statute_version": "version of {day}",
    "statute_in_force": "in force from {day}",
    "statute_changed": "changed from {day} on",
    "statutes_none": "No statutes have been read in yet.",
    "statute_repealed": "{article} is not in force: its law was repealed from {day} on.",
    "statute_missing": "The statutes in force have no {articles}.",
    "source_cases": "the cases",
    "cases_none": "No cases have been read in yet.",
    "case_key_points": "Key points of the judgment:",
    "field_civil_law": "civil law",
    "field_commercial_law": "commercial law",
    "field_administrative_law": "administrative law",
    "field_criminal_law": "criminal law",
    "field_social_labor_law": "labour and social law",
    "field_economic_law": "economic law",
    "field_procedure_law": "procedure",
    "field_constitution": "constitutional law",
    "field_other": "other fields of law",
    "document_creation": "the drafting of a document",
    "case_articles": "Articles applied:",
    "cases_missing": "The cases here have no {cases}.",
    "comparison_criterion": "Criterion",
    "comparison_case": "Case",
    "comparison_lead": "The cases compared (each cell is quoted from its case):",
    "comparison_unsaid": "not stated",
    "comparison_differences": "Key differences:",
    "review_contract": "Contract",
    "review_lead": "Kind of contract: {kind}. Clauses: {count}.",
    "review_unjudged": (
        "No risks were judged: here is what bears on each clause, what should be"
        " read twice and what is missing. A lawyer has to judge it."
    ),
    "review_no_risk": "The articles that were read show no risk. That does not mean that there is none.",
    "review_more": "Further clauses that were not reviewed: {count}.",
    "risk_high": "high",
    "risk_medium": "medium",
    "risk_low": "low",
    "review_risk": "{clause} · risk: {risk}",
    "review_says": "The contract: {text}",
    "review_rule": "The law: {text}",
    "review_bears": "Articles that bear on it: {articles}",
    "review_bare": "Clauses for which no article is named: {clauses}",
    "review_watch": "Read twice: “{words}”",
    "review_missing": "Nothing was found on: {parts}",
}

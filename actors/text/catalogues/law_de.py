"""German, of the law."""

SENTENCES = {
    "legal_which_document": "Welches Schriftstück soll entworfen werden?",
    "legal_blanks": "Noch auszufüllen: {fields}",
    "legal_basis": "Rechtsgrundlage:",
    "legal_sure": "Das ist, wonach gefragt wurde:",
    "legal_perhaps": "Diese Stellen kommen der Frage am nächsten; ob sie gelten, muss ein Anwalt sagen:",
    "legal_nothing": "Die Gesetze und Urteile hier beantworten das nicht.",
    "legal_unread": "Keine der Quellen konnte gelesen werden ({what}).",
    "legal_stands_in": (
        "Der Fachmann dafür war nicht zu erreichen; dies ist eine allgemeine Antwort. "
        "Versuchen Sie es später wieder oder fragen Sie einen Anwalt."
    ),
    "legal_unsourced": "Diese Antwort beruht auf keiner Quelle.",
    "legal_unrecognized": (
        "Ich erkenne darin keine Rechtsfrage. Falls es eine ist, schreiben Sie bitte noch einmal, "
        "was geschehen ist und was Sie wissen oder erreichen möchten."
    ),
    "legal_what_it_does": (
        "Fragen Sie nach dem Recht: Ich suche Gesetze und Urteile, vergleiche Urteile, entwerfe "
        "Schriftstücke, lese Verträge und zeige zu jedem Satz, wo er steht."
    ),
    "legal_on": "Zum Gebiet {field}:",
    "legal_silent": "Keine Antwort gab es zu: {fields}. Versuchen Sie es später wieder oder fragen Sie einen Anwalt.",
    "legal_disagree": "Hier sind sich die Fachleute uneinig:",
    "legal_disclaimer": (
        "Das ist eine Auskunft und keine Rechtsberatung. Bitte fragen Sie einen Anwalt, bevor Sie danach handeln."
    ),
    "source_statutes": "die Gesetze",
    "statute_version": "Fassung vom {day}",
    "statute_in_force": "gilt seit {day}",
    "statute_changed": "geändert ab {day}",
    "statutes_none": "Es wurden noch keine Gesetze eingelesen.",
    "statute_repealed": "{article} gilt seit {day} nicht mehr: Das Gesetz ist aufgehoben.",
    "statute_missing": "In den geltenden Gesetzen gibt es {articles} nicht.",
    "source_cases": "die Urteile",
    "cases_none": "Es wurden noch keine Urteile eingelesen.",
    "case_key_points": "Kernpunkte des Urteils:",
    "field_civil_law": "Zivilrecht",
    "field_commercial_law": "Handelsrecht",
    "field_administrative_law": "Verwaltungsrecht",
    "field_criminal_law": "Strafrecht",
    "field_social_labor_law": "Arbeits- und Sozialrecht",
    "field_economic_law": "Wirtschaftsrecht",
    "field_procedure_law": "Verfahrensrecht",
    "field_constitution": "Verfassungsrecht",
    "field_other": "andere Rechtsgebiete",
    "document_creation": "die Erstellung eines Dokuments",
    "case_articles": "Angewandte Vorschriften:",
    "cases_missing": "Unter den Urteilen hier fehlt {cases}.",
    "comparison_criterion": "Kriterium",
    "comparison_case": "Fall",
    "comparison_lead": "Die Fälle im Vergleich (jede Zelle ist aus ihrem Fall zitiert):",
    "comparison_unsaid": "nicht angegeben",
    "comparison_differences": "Wesentliche Unterschiede:",
    "review_contract": "Vertrag",
    "review_lead": "Art des Vertrags: {kind}. Klauseln: {count}.",
    "review_unjudged": (
        "Risiken wurden nicht beurteilt: Hier steht, was auf jede Klausel zutrifft, was"
        " zweimal zu lesen ist und was fehlt. Ein Anwalt muss es beurteilen."
    ),
    "review_no_risk": "Die gelesenen Vorschriften zeigen kein Risiko. Das heißt nicht, dass es keines gibt.",
    "review_more": "Nicht geprüfte weitere Klauseln: {count}.",
    "risk_high": "hoch",
    "risk_medium": "mittel",
    "risk_low": "gering",
    "review_risk": "{clause} · Risiko: {risk}",
    "review_says": "Der Vertrag: {text}",
    "review_rule": "Das Gesetz: {text}",
    "review_bears": "Vorschriften dazu: {articles}",
    "review_bare": "Klauseln ohne genannte Vorschrift: {clauses}",
    "review_watch": "Zweimal lesen: „{words}“",
    "review_missing": "Nicht geregelt: {parts}",
}

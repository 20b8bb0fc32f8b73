// Reads a JSON list of diagrams, and says of each what Mermaid's own parser holds of it: its kind, or why not.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("");
Object.assign(globalThis, { window, document: window.document });
const { default: mermaid } = await import("mermaid");

const verdicts = [];
for (const diagram of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const { diagramType } = await mermaid.parse(diagram);
    verdicts.push({ kind: diagramType, error: "" });
  } catch (error) {
    verdicts.push({ kind: "", error: String(error.message ?? error) });
  }
}
process.stdout.write(JSON.stringify(verdicts), () => process.exit(0));

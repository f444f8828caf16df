// A small questionnaire in the shape in which the portal gives it to the page.

const field = (name, kind, more = {}) => ({ name, kind, question: `${name}?`, help: "", choices: [], values: "", intents: [], speakers: [], default: {}, check: "with value", criterion: false, needed: false, ...more });
const choice = (name, meaning = "", more = {}) => ({ name, title: name, meaning, older: false, ...more });
const STATUS = { choices: [choice("yes", "yes"), choice("no", "no"), choice("not sure", "unsure"), choice("present", "yes", { older: true })] };

export const QUESTIONNAIRE = {
  speakers: [
    { name: "doctor", usual_intent: "inquire", other_intent: "inform" },
    { name: "patient", usual_intent: "inform", other_intent: "inquire" },
  ],
  intents: [
    { name: "inform", title: "inform", asks: false, speakers: ["doctor", "patient"] },
    { name: "inquire", title: "inquire", asks: true, speakers: ["doctor", "patient"] },
    { name: "diagnosis", title: "diagnosis", asks: false, speakers: ["doctor"] },
    { name: "nod", title: "nod", asks: false, slotless: true, speakers: ["doctor", "patient"] },
  ],
  slots: [
    {
      name: "symptom", title: "symptom", intents: ["inform", "inquire"], head: "value", status: "status",
      fields: [
        field("value", "values", { values: "symptoms" }),
        field("status", "choice", { ...STATUS, speakers: ["patient"], default: { patient: "yes" }, needed: true }),
        field("location", "values", { values: "sites" }),
        field("onset", "text"),
        field("severity", "scale", { minimum: 0, maximum: 10, check: "alone" }),
        field("characteristics", "rated_values"),
      ],
    },
    { name: "disease", title: "disease", intents: ["inform", "diagnosis"], head: "value", status: "status", fields: [field("value", "values", { values: "diseases" }), field("status", "choice", STATUS)] },
    { name: "travel", title: "travel", intents: ["inform", "inquire"], head: "", status: "status", fields: [field("status", "choice", STATUS), field("destination", "text")] },
    { name: "residence", title: "residence", intents: ["inform", "inquire"], head: "value", status: "", fields: [field("value", "text")] },
  ],
  lists: {
    symptoms: [["cough"], ["fever", "temperature"], ["head ache"], ["night sweats"]],
    sites: [["chest"], ["knee"]],
    diseases: [["pneumonia"], ["cough"]],
  },
};

export const TURNS = [
  { position: 0, speaker: "doctor", text: "Any fever or night sweats?" },
  { position: 1, speaker: "patient", text: "No fever, but a cough for two weeks. It is an 8." },
  { position: 2, speaker: "doctor", text: "Okay." },
  { position: 3, speaker: "patient", text: "In my knee, too." },
];

let rank = 0;

/** A label as the portal stores it. */
export const label = (position, intent, slot, answers = {}, more = {}) => ({ id: `id-${rank}`, rank: rank++, position, intent, intent_name: "", slot, answers, checks: [], kept: {}, ...more });

/** The data of a page with these labels. */
export function pageData(labels = []) {
  const rows = {};
  for (const data of labels) (rows[data.position] ||= []).push({ data, gaps: [], details: [], values: [] });
  return { questionnaire: QUESTIONNAIRE, utterances: TURNS, labels: rows };
}

/** A text as it stands in an address, a form, JSON, and HTML. */
export const escapesOf = (text: string): string[] => {
  const percent = encodeURIComponent(text);
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  const json = inJson(text);
  return [
    ...[percent, form].flatMap((each) => [each, each.replace(/%../g, (it) => it.toLowerCase())]),
    ...[json, inJson(json), asciiOnly(json)].flatMap((each) => [each, each.replaceAll('/', '\\/')]),
    ...HTML.map((entities) => text.replace(/[&<>"']/g, (it) => entities.get(it) ?? it)),
  ];
};

export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const asciiOnly = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);

const TEXT: [string, string][] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
];
const QUOTED: [string, string][] = [...TEXT, ['"', '&quot;']];
/** What of them is escaped, and how, differs by who writes it. */
const HTML = [
  new Map(TEXT),
  new Map(QUOTED),
  new Map([...QUOTED, ["'", '&#39;']]),
  new Map([...QUOTED, ["'", '&#x27;']]),
  new Map([...QUOTED, ["'", '&#039;']]),
  new Map([...QUOTED, ["'", '&apos;']]),
  new Map(Array.from('&<>"\'', (it): [string, string] => [it, `&#${it.charCodeAt(0)};`])),
];

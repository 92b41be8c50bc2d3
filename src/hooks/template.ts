import type { Approval } from '../approvals/module.js';
import { isExactNumber, stringifyExact } from '../kernel/exactjson.js';
import { escapeMarkdown } from './markdown.js';

/**
 * The values that a template may name. Only own properties count, and inserted text is never
 * expanded again.
 */
export interface TemplateScope {
  webhook?: {
    body: unknown;
    headers: Record<string, string>;
    query?: Record<string, string>;
    path: string;
    method: string;
  };
  event?: string | null;
  hook: { name: string };
  agent?: { id: string; name: string; result: string | null; error: string | null };
  approval?: Approval;
  email?: Record<string, unknown>;
}

/**
 * The pattern of a placeholder, with the spaces around the name. A pattern that matched the spaces
 * separately could take almost unlimited time.
 */
const PLACE = /\{\{([^{}]{1,300})\}\}/g;
/** A JSON string literal; an unclosed one extends to the end. */
const LITERAL = /"(?:[^"\\]|\\.)*(?:"|$)/gs;
const LONGEST = 256 * 1024;

/**
 * Fills in `{{webhook.body.<path>}}`, `{{webhook.headers.<name>}}`, `{{webhook.query.<name>}}`,
 * `{{webhook.path}}`, `{{webhook.method}}`, `{{event}}`, `{{hook.name}}`, `{{agent.result}}`,
 * `{{approval.tool}}`, `{{email.subject}}`. An object prints as JSON, a value that is absent in this run as nothing, an
 * unknown name stays as written, and all inserted text together has at most 256 Ki characters.
 */
export const renderTemplate = (template: string, scope: TemplateScope): string =>
  template.replace(PLACE, filling(scope));

/**
 * Fills in a template that is Markdown, with each value escaped, since it came from outside.
 * `isMarkdown` names the values that are Markdown themselves, as the result of an agent is.
 */
export const renderMarkdown = (
  template: string,
  scope: object,
  isMarkdown = (name: string): boolean => name === 'agent.result',
): string => {
  const fill = filling(scope);
  return template.replace(PLACE, (written, path: string) => {
    const text = fill(written, path);
    return text === written || isMarkdown(path.trim()) ? text : escapeMarkdown(text);
  });
};

/** Does the same for a template that is JSON: text inserted into a string literal cannot end it. */
export const renderJson = (template: string, scope: TemplateScope): string => {
  const left = { characters: LONGEST };
  const fill = filling(scope, { left, isJson: true });
  const fillText = filling(scope, { left });
  const fillEscaped = (written: string, path: string): string => {
    const text = fillText(written, path);
    return text === written ? written : JSON.stringify(text).slice(1, -1);
  };
  const filled: string[] = [];
  let end = 0;
  for (const { 0: literal, index } of template.matchAll(LITERAL)) {
    filled.push(template.slice(end, index).replace(PLACE, fill));
    filled.push(literal.replace(PLACE, fillEscaped));
    end = index + literal.length;
  }
  return [...filled, template.slice(end).replace(PLACE, fill)].join('');
};

/** An address with its values filled in, or why it has none. */
export type RenderedAddress = { url: string } | { fault: string };

/**
 * Fills in the placeholders of an address, each value escaped. A value cannot be empty, and cannot
 * lead out of the path: `..` alone is a step up, escaped or not.
 */
export const renderAddress = (template: string, scope: object): RenderedAddress => {
  let fault: string | null = null;
  const url = template.replace(PLACE, (_, path: string) => {
    const name = path.trim();
    const value = lookUp(scope, name);
    const text = value === undefined || value === null ? '' : print(value);
    if (text === '') fault ??= `{{${name}}} in the URL has no value`;
    if (text.length > MAX_IN_ADDRESS_LENGTH) fault ??= `{{${name}}} in the URL is too long`;
    return encodeURIComponent(text.slice(0, MAX_IN_ADDRESS_LENGTH).replace(/\p{Cs}/gu, ''));
  });
  const before = stepsIn(template);
  if (stepsIn(url) !== before)
    fault ??= 'A value in the URL contains "..", which would leave the path';
  return fault === null ? { url } : { fault };
};

const MAX_IN_ADDRESS_LENGTH = 2000;

/** Returns how many segments of an address are `.` or `..` (WHATWG URL: dot segments). */
const stepsIn = (address: string): number =>
  (address.split(/[?#]/, 1)[0] ?? '').split('/').filter((each) => DOTS.test(each)).length;
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Returns an address with a word in place of each placeholder. */
export const withoutPlaceholders = (template: string): string => template.replace(PLACE, 'x');

/** Returns the names in a template for which the scope has no value, each once. */
export const unfilledIn = (template: string, scope: object): string[] => {
  const missing = placeholdersIn(template).filter((name) => lookUp(scope, name) === undefined);
  return [...new Set(missing)].slice(0, MAX_UNFILLED);
};

const MAX_UNFILLED = 20;

/** Returns the names of the values that a template names, as it writes them. */
export const placeholdersIn = (template: string): string[] =>
  [...template.matchAll(PLACE)].map(([, name = '']) => name.trim());

/** Renders every text inside a JSON value; keys and everything else stay as they are. */
export const renderDeep = (value: unknown, scope: object): unknown => {
  const fill = filling(scope);
  const render = (part: unknown): unknown => {
    if (typeof part === 'string') return part.replace(PLACE, fill);
    if (Array.isArray(part)) return part.map(render);
    if (typeof part !== 'object' || part === null || isExactNumber(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, render(each)]));
  };
  return render(value);
};

/**
 * Returns a function that fills in placeholders until no characters are left; the rest stays empty.
 * `isJson` is for places where the text must be a JSON value.
 */
const filling = (
  scope: object,
  {
    left = { characters: LONGEST },
    isJson = false,
  }: { left?: { characters: number }; isJson?: boolean } = {},
) => {
  return (written: string, path: string): string => {
    if (left.characters <= 0) return '';
    const name = path.trim();
    const value = lookUp(scope, name);
    if (value === undefined) return written;
    const text = isAbsent(name, value) && !isJson ? '' : print(value);
    const fits = text.length > left.characters ? `${text.slice(0, left.characters)}…` : text;
    left.characters -= fits.length;
    return fits;
  };
};

/**
 * True for a value that a run can have and this one has not, such as the event of a sender that
 * names none. A null of a payload is a value, as its sender wrote it.
 */
export const isAbsent = (path: string, value: unknown): boolean =>
  value === null && !path.startsWith('webhook.');

/**
 * Returns the value at a dotted path, `undefined` if there is none. Header names are matched in
 * lower case.
 */
export const lookUp = (scope: object, path: string): unknown => {
  const names = path.split('.');
  const isHeader = names[0] === 'webhook' && names[1] === 'headers';
  let value: unknown = scope;
  for (const [depth, name] of names.entries()) {
    if (typeof value !== 'object' || value === null || isExactNumber(value)) return undefined;
    const own = Object.getOwnPropertyDescriptor(
      value,
      isHeader && depth === 2 ? name.toLowerCase() : name,
    );
    if (!own || (Array.isArray(value) && name === 'length')) return undefined;
    value = own.value;
  }
  return value;
};

const print = (value: unknown): string =>
  typeof value === 'string' ? value : (stringifyExact(value) ?? '');

import type { Approval } from '../approvals/module.js';
import { isExactNumber, stringifyExact } from '../kernel/exactjson.js';
import { isJsonText } from '../kernel/jsonvalue.js';
import { insertValues, type MarkdownValue, markValue } from './markdown.js';

/** Only own properties count. Inserted text is never expanded again. */
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
 * The name includes surrounding spaces. A pattern that matched them separately could take almost
 * unlimited time.
 */
const PLACE = /\{\{([^{}]{1,300})\}\}/g;
/**
 * A placeholder, or a string literal with placeholders, whose names may contain quotes. An unclosed
 * literal extends to the end.
 */
const JSON_PART =
  /\{\{([^{}]{1,300})\}\}|"(?:\{\{[^{}]{1,300}\}\}|(?!\{\{[^{}]{1,300}\}\})[^"\\]|\\.)*(?:"|$)/gs;
const MAX_LENGTH = 256 * 1024;

/**
 * Objects are written as JSON, values absent in this execution are empty, unknown names stay as
 * written. All inserted text together has at most 256 Ki characters.
 */
export const renderTemplate = (template: string, scope: TemplateScope): string =>
  template.replace(PLACE, filling(scope));

/**
 * Escapes each value outside code, because it is untrusted. `isMarkdown` lists values that are
 * Markdown themselves, such as the result of an agent.
 */
export const renderMarkdown = (
  template: string,
  scope: object,
  isMarkdown = (name: string): boolean => name === 'agent.result',
): string => {
  const fill = filling(scope);
  const values: MarkdownValue[] = [];
  const marked = template.replace(PLACE, (written, path: string) => {
    const text = fill(written, path);
    values.push({ text, isMarkdown: text === written || isMarkdown(path.trim()) });
    return markValue(values.length - 1);
  });
  return values.length === 0 ? template : insertValues(marked, values);
};

/**
 * For JSON templates: a value within a string literal cannot end it, and is otherwise inserted as
 * JSON, so that text gets quotes.
 */
export const renderJson = (template: string, scope: TemplateScope): string => {
  const left = { characters: MAX_LENGTH };
  const fill = filling(scope, { left, isJson: true });
  const fillText = filling(scope, { left });
  const fillEscaped = (written: string, path: string): string => {
    const text = fillText(written, path);
    return text === written ? written : JSON.stringify(text).slice(1, -1);
  };
  return template.replace(JSON_PART, (part: string, path?: string) =>
    path === undefined ? part.replace(PLACE, fillEscaped) : fill(part, path),
  );
};

/** A template of one placeholder is the value itself. */
export const renderEscaped = (
  template: string,
  scope: object,
  encode: (text: string) => string,
): string => {
  const fill = filling(scope);
  const isWhole =
    template.trim().replace(PLACE, '') === '' && placeholdersIn(template).length === 1;
  if (isWhole) return template.replace(PLACE, fill);
  return template.replace(PLACE, (written, path: string) => {
    const text = fill(written, path);
    return text === written ? written : encode(text);
  });
};

export type RenderedAddress = { url: string } | { fault: string };

/** Values are escaped, must not be empty and must not leave the path with `..`. */
export const renderAddress = (template: string, scope: object): RenderedAddress => {
  let fault: string | null = null;
  const url = template.replace(PLACE, (_, path: string) => {
    const name = path.trim();
    const value = lookUp(scope, name);
    const text = value === undefined || value === null ? '' : withoutHalves(print(value));
    if (text === '')
      fault ??= `{{${name}}} in the URL has no value. Correct the placeholder in the hook, or send the value with the delivery`;
    if (text.length > MAX_IN_ADDRESS_LENGTH) fault ??= `{{${name}}} in the URL is too long`;
    return encodeURIComponent(withoutHalves(text.slice(0, MAX_IN_ADDRESS_LENGTH)));
  });
  const before = stepsIn(template);
  if (stepsIn(url) !== before)
    fault ??= 'A value in the URL contains "..", which would leave the path';
  return fault === null ? { url } : { fault };
};

/** Without halves of surrogate pairs, which have no UTF-8 form. */
const withoutHalves = (text: string): string => text.replace(/\p{Cs}/gu, '');

const MAX_IN_ADDRESS_LENGTH = 2000;

/** Counts `.` and `..` segments (WHATWG URL: dot segments). */
const stepsIn = (address: string): number =>
  (address.split(/[?#]/, 1)[0] ?? '').split('/').filter((each) => DOTS.test(each)).length;
const DOTS = /^(?:\.|%2e){1,2}$/i;

export const withoutPlaceholders = (template: string, sample = 'x'): string =>
  template.replace(PLACE, sample);

/** Whether a template with the form of JSON is invalid with a number and with nothing inserted. */
export const isBrokenJson = (template: string): boolean =>
  /^\s*(?:\[|\{(?!\{))/.test(template) &&
  ['1', ''].every((sample) => !isJsonText(withoutPlaceholders(template, sample)));

export const unfilledIn = (template: string, scope: object): string[] => {
  const missing = placeholdersIn(template).filter((name) => lookUp(scope, name) === undefined);
  return [...new Set(missing)].slice(0, MAX_UNFILLED);
};

const MAX_UNFILLED = 20;

export const placeholdersIn = (template: string): string[] =>
  [...template.matchAll(PLACE)].map(([, name = '']) => name.trim());

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

/** Stops at the maximum number of characters. `isJson`: the inserted text must be a JSON value. */
const filling = (
  scope: object,
  {
    left = { characters: MAX_LENGTH },
    isJson = false,
  }: { left?: { characters: number }; isJson?: boolean } = {},
) => {
  return (written: string, path: string): string => {
    if (left.characters <= 0) return '';
    const name = path.trim();
    const value = lookUp(scope, name);
    if (value === undefined) return written;
    const text = isJson
      ? (stringifyExact(value) ?? 'null')
      : isAbsent(name, value)
        ? ''
        : print(value);
    const fits = text.length > left.characters ? `${text.slice(0, left.characters)}…` : text;
    left.characters -= fits.length;
    return fits;
  };
};

/**
 * True for values that this execution lacks but others have, such as the event name. A null in a
 * payload is a value.
 */
export const isAbsent = (path: string, value: unknown): boolean =>
  value === null && !path.startsWith('webhook.');

/** Dotted path, also with brackets. Header names are matched in lower case. */
export const lookUp = (scope: object, path: string): unknown => {
  const value = lookUpNames(scope, path.split('.'));
  const names = value === undefined ? splitBrackets(path) : null;
  return names === null ? value : lookUpNames(scope, names);
};

export const splitPath = (path: string): string[] => splitBrackets(path) ?? path.split('.');

/** `items[0]["unit price"]` is `items`, `0` and `unit price`. Null without brackets. */
const splitBrackets = (path: string): string[] | null => {
  if (!path.includes('[')) return null;
  const parts = [...path.matchAll(SEGMENT)];
  if (parts.map(([written]) => written).join('') !== path) return null;
  return parts.map(([, name, index, , key]) => name ?? index ?? key ?? '');
};
/** A quote within a JSON string is escaped. */
const SEGMENT = /(?:^|\.)([^.[\]]+)|\[(?:(\d+)|\\?(["'])(.*?)\\?\3)\]/g;

const lookUpNames = (scope: object, names: string[]): unknown => {
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

/** What a template may name. Own properties only; what was put in is never expanded again. */
export interface TemplateScope {
  webhook?: {
    body: unknown;
    headers: Record<string, string>;
    path: string;
    method: string;
  };
  event?: string | null;
  hook: { name: string };
  agent?: { id: string; name: string; result: string | null; error: string | null };
}

const PLACE = /\{\{\s*([^{}]{1,300}?)\s*\}\}/g;
const LONGEST = 64 * 1024;

/**
 * `{{webhook.body.<path>}}`, `{{webhook.headers.<name>}}`, `{{webhook.path}}`, `{{webhook.method}}`,
 * `{{event}}`, `{{hook.name}}`, `{{agent.result}}`. An object prints as JSON, an unknown name stays
 * as written, and the whole is at most 64 KiB.
 */
export const renderTemplate = (template: string, scope: TemplateScope): string => {
  const rendered = template.replace(PLACE, (written, path: string) => {
    const value = lookUp(scope, path);
    return value === undefined ? written : print(value);
  });
  return rendered.length > LONGEST ? `${rendered.slice(0, LONGEST)}…` : rendered;
};

/** Renders every text inside a JSON value; keys and everything else stay as they are. */
export const renderDeep = (value: unknown, scope: TemplateScope): unknown => {
  if (typeof value === 'string') return renderTemplate(value, scope);
  if (Array.isArray(value)) return value.map((each) => renderDeep(each, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, renderDeep(each, scope)]),
  );
};

/** The value at a dotted path, `undefined` where there is none. Header names are matched in lower case. */
export const lookUp = (scope: TemplateScope, path: string): unknown => {
  const names = path.split('.');
  const isHeader = names[0] === 'webhook' && names[1] === 'headers';
  let value: unknown = scope;
  for (const [depth, name] of names.entries()) {
    if (typeof value !== 'object' || value === null) return undefined;
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
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

export class InvalidSkill extends Error {
  override name = 'InvalidSkill';
}

export interface SkillFile {
  name: string;
  description: string;
  body: string;
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Agent Skills format. Errors: InvalidSkill. */
export const readSkillFile = (source: string): SkillFile => {
  const { fields, body } = split(source);
  const name = fields.get('name') ?? '';
  const description = fields.get('description') ?? '';
  if (name === '')
    throw new InvalidSkill(
      'The front matter of SKILL.md has no name. Add a line such as name: my-skill',
    );
  if (name.length > MAX_NAME || !NAME.test(name)) {
    throw new InvalidSkill(
      `The name in SKILL.md must be 1 to ${MAX_NAME} characters: a–z and 0–9, with single hyphens between them`,
    );
  }
  if (description === '')
    throw new InvalidSkill(
      'The front matter of SKILL.md has no description. Add a line such as description: When to use the skill',
    );
  if (description.length > MAX_DESCRIPTION) {
    throw new InvalidSkill(
      `The description in SKILL.md has more than ${MAX_DESCRIPTION} characters. Shorten the description`,
    );
  }
  return { name, description, body };
};

const FENCE = '---';

const split = (source: string): { fields: Map<string, string>; body: string } => {
  const lines = source.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== FENCE)
    throw new InvalidSkill(
      'SKILL.md does not begin with ---. Add the front matter: a line ---, name, description, and a line ---',
    );
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === FENCE);
  if (end < 0)
    throw new InvalidSkill(
      'The front matter of SKILL.md has no closing line ---. Add the line below the last field',
    );
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  return { fields: parseFrontmatterFields(lines.slice(1, end)), body };
};

/**
 * A subset of YAML: plain and quoted values, block scalars, and indented continuations. Real
 * descriptions often contain text that strict YAML rejects (`Use when: …`), and nothing here can
 * expand.
 */
const parseFrontmatterFields = (lines: string[]): Map<string, string> => {
  const fields = new Map<string, string>();
  for (let at = 0; at < lines.length; at++) {
    const [, key, value = ''] = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(lines[at] ?? '') ?? [];
    if (key === undefined) continue;
    const more: string[] = [];
    while (/^(\s+\S|\s*$)/.test(lines[at + 1] ?? '-')) more.push(lines[++at] ?? '');
    if (!fields.has(key)) fields.set(key, parseScalar(value.trim(), more));
  }
  return fields;
};

const parseScalar = (first: string, more: string[]): string => {
  const lines = more.map((line) => line.trim());
  if (/^\|[+-]?$/.test(first)) return lines.join('\n').trim();
  const isBlock = /^>[+-]?$/.test(first);
  const words = isBlock ? lines : [withoutComment(first), ...lines];
  const text = words.filter((word) => word !== '').join(' ');
  return isBlock ? text : unquoted(text);
};

const withoutComment = (text: string): string =>
  /^["']/.test(text) ? text : text.replace(/\s+#.*$/, '');

const unquoted = (text: string): string => {
  const [, single] = /^'((?:[^']|'')*)'$/.exec(text) ?? [];
  if (single !== undefined) return single.replaceAll("''", "'");
  if (!/^"(?:[^"\\]|\\.)*"$/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new InvalidSkill(
        'The front matter of SKILL.md contains an invalid value in double quotes. Remove the quotes, or write the value as a JSON string',
      );
    throw error;
  }
};

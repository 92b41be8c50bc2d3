import { isDeepStrictEqual } from 'node:util';
import type { Description, ObjectSchema } from 'joi';
import { ApiError, type ProblemBody } from '../src/client/errors.js';
import { parseExact, withoutMark } from '../src/client/index.js';
import { valueAt } from './columns.js';
import { type Context, switchFlag } from './command.js';
import { writeIn } from './editor.js';
import {
  CliFault,
  Exit,
  failed,
  fieldsFault,
  interrupted,
  toCliFault,
  usageFault,
} from './exit.js';
import { isStripped, requestFields, requestFrom } from './fields.js';
import { oneLine, wrapped } from './text.js';

export const editFlag = switchFlag(
  'Edit the fields in $VISUAL or $EDITOR. Default on a terminal if no other flag is set',
);

export interface Editing<T, R> {
  /** Noun and name: `hook github-issues`. */
  title: string;
  schema: ObjectSchema<T>;
  present: object;
  /** Paths of secrets, which are never written to the file: `triggerConfig.webhookSecret`. */
  secrets?: readonly string[];
  /** Sends the changed fields. */
  send(changes: T): Promise<R>;
}

interface UpdateInput {
  flags: object;
  fields: Record<string, unknown>;
  data?: string;
}

export const isEdited = ({ ask }: Context, { flags, fields, data }: UpdateInput): boolean => {
  // A password alone changes nothing.
  const { edit, passwordFile, ...others }: { edit?: unknown; passwordFile?: unknown } = flags;
  const isGiven = Object.keys({ ...others, ...fields }).length > 0 || data !== undefined;
  if (!edit) return !isGiven && ask.isPossible;
  if (isGiven) throw usageFault('--edit takes the fields from the editor. Remove the other flags.');
  if (!ask.isPossible)
    throw usageFault('--edit requires a terminal. Without a terminal, pass flags or --data.');
  return true;
};

/**
 * Opens the fields as JSON in the editor until they are accepted or the user gives up. Sends the
 * changed fields. Resolves to null if nothing changed.
 */
export const changedByEditor = async <T, R>(
  context: Context,
  editing: Editing<T, R>,
): Promise<R | null> => {
  const of = editing.schema.describe();
  const before = editableFields(of, editing.present, editing.secrets ?? []);
  let draft = `${JSON.stringify(before, null, 2)}\n`;
  let wrong: string[] = [];
  for (;;) {
    draft = await draftFrom(`${renderEditHeader(editing, before, wrong)}${draft}`);
    try {
      const changes = changesIn(draft, before, of, editing.secrets ?? []);
      if (Object.keys(changes).length > 0) return await send(context, editing, changes);
      context.out.note('Nothing was changed.');
      return null;
    } catch (error) {
      wrong = await askToRetry(context, error);
    }
  }
};

const send = async <T, R>(
  { at }: Context,
  { schema, send: sent }: Editing<T, R>,
  changes: object,
): Promise<R> => {
  const data = JSON.stringify(changes);
  return sent(await requestFrom(schema, { fields: {}, data }, { ...at, flagOf: (path) => path }));
};

type EditableFields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is EditableFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const editableFields = (
  of: Description,
  present: unknown,
  secrets: readonly string[],
  path = '',
): EditableFields => {
  if (!isFields(present)) return {};
  const keys: Record<string, Description> = of.keys ?? {};
  const shown = Object.entries(keys).flatMap(([key, inner]): [string, unknown][] => {
    const value = present[key];
    const within = path === '' ? key : `${path}.${key}`;
    if (value === undefined || isStripped(inner) || secrets.includes(within)) return [];
    return [
      [key, inner.keys && isFields(value) ? editableFields(inner, value, secrets, within) : value],
    ];
  });
  return Object.fromEntries(shown);
};

const WIDTH = 76;

/** Comment lines above the fields, which are removed again. */
const renderEditHeader = (
  { title, schema, secrets = [] }: Omit<Editing<unknown, unknown>, 'send'>,
  before: EditableFields,
  wrong: string[],
): string => {
  const others = requestFields(schema, [...secrets])
    .map(({ path }) => path)
    .filter((path) => valueAt(before, path) === undefined);
  const lines = [
    ...wrong,
    ...wrapped(`${oneLine(title)}: change it, save and exit. Only changed fields are sent.`, WIDTH),
    ...(others.length > 0 ? ['Other fields:', ...byParent(others)] : []),
  ];
  return lines.map((line) => `// ${line}\n`).join('');
};

/** `actionConfig: agentPrompt, agentTopic`: one paragraph per object. */
const byParent = (paths: string[]): string[] => {
  const parents = new Map<string, string[]>();
  for (const path of paths) {
    const [, parent = '', name = path] = /^(.*)\.([^.]+)$/.exec(path) ?? [];
    parents.set(parent, [...(parents.get(parent) ?? []), name]);
  }
  return [...parents].flatMap(([parent, names]) => {
    const sentence = `${parent === '' ? '' : `${parent}: `}${names.join(', ')}`;
    return wrapped(sentence, WIDTH - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
  });
};

/** Opens the editor and returns the text without the comment. */
const draftFrom = async (text: string): Promise<string> => {
  const outcome = await writeIn('fields.json', text);
  if (outcome.is === 'refused') throw failed(`${outcome.reason}.`);
  return outcome.text.replace(/^(?:\s*\/\/[^\n]*(?:\n|$))+/, '');
};

const changesIn = (
  draft: string,
  before: EditableFields,
  of: Description,
  secrets: readonly string[],
): EditableFields => {
  if (draft.trim() === '') return {};
  const after = objectIn(draft);
  const keys: Record<string, Description> = of.keys ?? {};
  const details = [
    ...secrets
      .filter((path) => valueAt(after, path) !== undefined)
      .map((path) => ({ path, message: 'is a secret and cannot be changed in an editor' })),
    ...Object.keys(before)
      .filter((key) => !(key in after) && !isNullable(keys[key]))
      .map((path) => ({ path, message: 'cannot be removed; set another value' })),
  ];
  if (details.length > 0) throw fieldsFault(details, { command: '', flagOf: (path) => path });
  const gone = Object.keys(before).filter((key) => !(key in after));
  const differing = Object.entries(after).filter(
    ([key, value]) => !isDeepStrictEqual(value, before[key]),
  );
  return Object.fromEntries([...gone.map((key) => [key, null]), ...differing]);
};

const isNullable = (of: Description | undefined): boolean => {
  const allowed: unknown[] = of?.allow ?? [];
  return allowed.includes(null);
};

const objectIn = (draft: string): EditableFields => {
  let value: unknown;
  try {
    value = parseExact(withoutMark(draft));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageFault(`The edited text is not valid JSON: ${error.message}.`);
  }
  if (isFields(value)) return value;
  throw usageFault('The edited text must be a JSON object. Keep the outer braces { }.');
};

/** Statuses that the user can correct in the same file. Other errors are rethrown. */
const RETRYABLE_STATUSES = [400, 409];

/** Prints the errors and asks to edit again. Returns the printed lines. */
const askToRetry = async ({ ask, out, at }: Context, error: unknown): Promise<string[]> => {
  const isRefusal = error instanceof ApiError && RETRYABLE_STATUSES.includes(error.statusCode);
  const fault = toCliFault(error, { ...at, flagOf: (path) => path, hadToken: true });
  const isTypo = fault instanceof CliFault && fault.exit === Exit.usage;
  if (!(fault instanceof CliFault) || !(isRefusal || isTypo)) throw error;
  const lines = [fault.message, ...renderProblemDetails(fault.body)].map(oneLine);
  for (const line of lines) out.warn(line);
  if (!(await ask.agree({ ask: 'Edit again?', instead: 'flags' }, true))) {
    throw interrupted('Nothing was changed.');
  }
  return lines;
};

const renderProblemDetails = ({ details = [] }: Partial<ProblemBody>): string[] =>
  details.map(({ path, message }) => `  ${path}  ${message.replace(/^"[^"]*" /, '')}`);

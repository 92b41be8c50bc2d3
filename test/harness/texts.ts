import ts from 'typescript';
import { describeApi } from '../../src/http/explorer.js';
import { version } from '../../src/version.js';
import { leaves } from '../cli/leaves.js';
import { nodes, place, product, type Source } from './sources.js';

export type TextKind = 'summary' | 'field' | 'nullable' | 'command' | 'flag' | 'error';

/** A text that users read, with its place: an endpoint, a schema field, a command or a line. */
export interface UserText {
  kind: TextKind;
  at: string;
  text: string;
}

/** All texts of the API document, the command line and the errors, by kind. */
export const userTexts = async (): Promise<UserText[]> => [
  ...(await apiTexts()),
  ...(await commandTexts()),
  ...errorTexts(),
];

/** Summaries of endpoints and descriptions of fields, as `/swagger.json` has them. */
export const apiTexts = async (): Promise<UserText[]> => {
  const { paths, components } = Object(await describeApi(version));
  const summaries = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.entries<{ summary?: string }>({ ...methods }).map(
      ([method, { summary = '' }]): UserText => ({
        kind: 'summary',
        at: `${method.toUpperCase()} ${path}`,
        text: summary,
      }),
    ),
  );
  return [...summaries, ...describedIn(components, 'components'), ...describedIn(paths, 'paths')];
};

const describedIn = (value: unknown, at: string): UserText[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { nullable, description = '' } = value as { nullable?: boolean; description?: string };
  const own: UserText[] = nullable ? [{ kind: 'nullable', at, text: description }] : [];
  const inner = Object.entries(value).flatMap(([key, child]): UserText[] => {
    if (key === 'example' || key === 'examples') return [];
    if (key !== 'description' || typeof child !== 'string')
      return describedIn(child, `${at}.${key}`);
    return [{ kind: 'field', at, text: child }];
  });
  return [...own, ...inner];
};

/** Summaries of commands, and descriptions of their flags. */
export const commandTexts = async (): Promise<UserText[]> =>
  (await leaves()).flatMap(({ path, command }): UserText[] => [
    { kind: 'command', at: path, text: command.summary },
    ...Object.entries(command.flags ?? {}).map(
      ([name, { about }]): UserText => ({ kind: 'flag', at: `${path} --${name}`, text: about }),
    ),
  ]);

/** Literal messages of errors, among the arguments of a constructor or of Boom. */
const errorTexts = (): UserText[] =>
  product().flatMap((source) => [...nodes(source)].flatMap((node) => messageOf(source, node)));

/**
 * Faults of the program, which users do not read: the API answers 500 without their text, and the
 * caller handles an unmet expectation of a statement.
 */
const INTERNAL = /^(Error|TypeError|ExpectationFailed)$/;

/** How users read the messages of classes whose constructor or caller adds the subject. */
const SENTENCES: Record<string, string> = {
  AttachmentGone: 'Sending failed: …. Upload the document again and send a new e-mail',
  BadValue: '<setting> must be …',
  ConfinedPathError: '<path> …',
  EngineFailed:
    'Every speech engine failed (<engine>: …). Upload the recording again, or add an engine: <ways>',
  ExtractFailed: '…. <remedy of the code>',
  FileGone: 'Not in the backup: <file>: …',
  GgufFault:
    'The file is not a supported model. …. Download the file again or choose another model',
  InvalidRule: 'rrule …',
  InvalidServer: '<field> …',
  MailFault: '<host>: <problem> (…)',
  ModelFailure: 'No model answered. …. Check the model: adjutant models test <model>',
  NotLoaded: 'No model answered. <model> …. Check the model: adjutant models test <model>',
  NotRegularFile: '<file> …',
  PageUnreadable: '<url> …. Use another page, or upload its content as a document',
  ScopeNotOffered: 'scope …',
  TarError: 'The file is not a valid backup: …. Use another backup',
  WorkerFailed:
    'The file is too large or too complex: …. Reduce or split the file and save it again',
  Unreachable: 'Cannot reach Adjutant at <url>: …',
};

const messageOf = (source: Source, node: ts.Node): UserText[] => {
  if (isCommandFault(node)) {
    const text = node.arguments.map(literalText).filter(Boolean).join(' ');
    return text === '' ? [] : [{ kind: 'error', at: place(source, node), text }];
  }
  if (!isError(node) || INTERNAL.test(node.expression.getText())) return [];
  const message = node.arguments?.findLast(
    (each) =>
      (ts.isStringLiteralLike(each) || ts.isTemplateExpression(each)) &&
      each.getText().includes(' '),
  );
  if (!message) return [];
  const text = literalText(message);
  if (node.expression.getText() === 'BadBackup') {
    const [fault = '', remedy = 'Use another backup'] = node.arguments?.map(literalText) ?? [];
    return [{ kind: 'error', at: place(source, node), text: `${fault}. ${remedy}` }];
  }
  if (text.startsWith('No model answered')) return [];
  const sentence = SENTENCES[node.expression.getText()] ?? '…';
  return [{ kind: 'error', at: place(source, node), text: sentence.replace('…', () => text) }];
};

/** Whether a command throws its fault: the problem and the lines below it are its arguments. */
const isCommandFault = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) &&
  ts.isThrowStatement(node.parent) &&
  /^(failed|usageFault)$/.test(node.expression.getText());

const literalText = (node: ts.Node) => {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : '';
};

const isError = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) && ts.isThrowStatement(node.parent)) ||
  (ts.isCallExpression(node) && node.expression.getText().startsWith('Boom.'));

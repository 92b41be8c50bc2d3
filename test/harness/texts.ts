import ts from 'typescript';
import { describeApi } from '../../src/http/explorer.js';
import { version } from '../../src/version.js';
import { leaves } from '../cli/leaves.js';
import { nodes, place, type Source, sources } from './sources.js';

export type TextKind = 'summary' | 'field' | 'command' | 'flag' | 'error';

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
  return Object.entries(value).flatMap(([key, child]): UserText[] => {
    if (key !== 'description' || typeof child !== 'string')
      return describedIn(child, `${at}.${key}`);
    return [{ kind: 'field', at, text: child }];
  });
};

/** Summaries of commands, and descriptions of their flags. */
export const commandTexts = async (): Promise<UserText[]> =>
  (await leaves()).flatMap(({ path, command }): UserText[] => [
    { kind: 'command', at: path, text: command.summary },
    ...Object.entries(command.flags ?? {}).map(
      ([name, { about }]): UserText => ({ kind: 'flag', at: `${path} --${name}`, text: about }),
    ),
  ]);

/** Literal messages of errors: the first text among the arguments of a constructor or of Boom. */
const errorTexts = (): UserText[] =>
  sources()
    .filter(({ path }) => /^(src|cli|tui|web)\//.test(path))
    .flatMap((source) => [...nodes(source)].flatMap((node) => messageOf(source, node)));

const messageOf = (source: Source, node: ts.Node): UserText[] => {
  if (!isError(node)) return [];
  const message = node.arguments?.find(
    (each) =>
      (ts.isStringLiteralLike(each) && each.text.includes(' ')) || ts.isTemplateExpression(each),
  );
  if (!message) return [];
  const text = ts.isStringLiteralLike(message) ? message.text : message.getText().slice(1, -1);
  return [{ kind: 'error', at: place(source, node), text }];
};

const isError = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) && ts.isThrowStatement(node.parent)) ||
  (ts.isCallExpression(node) && node.expression.getText().startsWith('Boom.'));

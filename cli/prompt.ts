import type { Context } from './context.js';
import type { RequestField } from './fields.js';

/** Input of a command by flags, arguments and `--data`. */
interface GivenFields {
  fields: Record<string, unknown>;
  data?: string;
}

/**
 * Asks, field by field, for what a request needs and was not given. Without a terminal nothing is
 * asked, nor where the whole request is given.
 */
export const askNeeded = async (
  context: Context,
  fields: readonly RequestField[],
  { fields: given, data }: GivenFields,
): Promise<Record<string, unknown>> => {
  if (!context.ask.isPossible || data !== undefined) return {};
  const answers: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.isNeeded && given[field.path] === undefined) {
      answers[field.path] = await answerTo(context, field);
    }
  }
  return answers;
};

const answerTo = async ({ ask }: Context, field: RequestField): Promise<unknown> => {
  const { name, values, kind, about } = field;
  const said = name.replaceAll(/[-.]/g, ' ');
  const title = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  const instead = `--${name}`;
  if (values.length > 0) return values[await ask.choose({ ask: title, choices: values, instead })];
  const question = {
    ask: about === '' ? title : `${title} (${about})`,
    instead,
    refuse: (text: string) => (text === '' ? 'It is needed.' : undefined),
  };
  const answer = await ask.text(question);
  return kind === 'list' ? answer.split(/[\s,]+/).filter(Boolean) : answer;
};

import { type ChatAnswer, type Client, contracts } from '../../src/client/index.js';
import { answerTo, type ChatFlags } from '../chat/reply.js';
import { command, on, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { Exit } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { resolveId } from '../resolve.js';
import { oneLine, safe } from '../text.js';

const { send } = await contracts.chat();
const END = /^\/(quit|exit|end)$/;

export const chatCommand = command({
  name: 'chat',
  args: '[message]',
  calls: ['chat send', 'chat get'],
  summary: 'Say something to an agent, or have a conversation with it',
  examples: ['"What came in today?"', '- < question.txt', '--session k2v9mq "And yesterday?"', ''],
  fields: () => requestFields(send.body, ['message', 'sessionId']),
  flags: {
    session: textFlag('<id>', 'The conversation to go on with'),
    stream: on('The answer as it is written, in a pipe too; with --json every event'),
  },
  notes: [
    'Without a message, on a terminal: a conversation, which /quit ends.',
    'The message may be - for stdin. ^C stops the agent. Exit 1 unless it completed.',
  ],
  seeAlso: 'adjutant sessions messages, adjutant approvals watch',
  run: async (context, { args, flags, fields }) => {
    const { message } = args;
    const sessionId = flags.session && (await sessionIdOf(context, flags.session));
    const isStreamed = flags.stream === true || context.out.format === 'table';
    const wishes = { ...fields, ...(sessionId && { sessionId }) };
    if (message === undefined) return converse(context, wishes);
    const content = message === '-' ? await readFileOrStdin(context, '-') : message;
    const said = await saidWith(context, wishes, content);
    show(context, await answerTo(context, said, isStreamed), isStreamed);
  },
});

const saidWith = (context: Context, fields: object, message: string): Promise<ChatFlags> =>
  requestFrom(send.body, { fields: { ...fields }, more: { message } }, context.at);

/** One message after the other, in one session. */
const converse = async (context: Context, wishes: object): Promise<void> => {
  let session = {};
  for (;;) {
    const instead = 'the message';
    const message = await context.ask.text({ ask: 'You', instead });
    if (END.test(message)) return;
    if (message === '') continue;
    const said = await saidWith(context, { ...wishes, ...session }, message);
    const answer = await answerTo(context, said, true);
    sayWhy(context, answer);
    session = { sessionId: answer.sessionId };
  }
};

/** Prints what was not streamed: the rest is on the screen already. */
const show = (context: Context, answer: ChatAnswer, isStreamed: boolean): void => {
  const { out } = context;
  if (out.format === 'json' && !isStreamed) out.json(answer);
  if (out.format === 'id') out.line(answer.agentId);
  if (out.format === 'tsv' && !isStreamed && answer.message) out.line(safe(answer.message));
  sayWhy(context, answer);
  if (answer.status !== 'completed') context.exitCode = Exit.failed;
  const short = answer.sessionId.slice(-6);
  if (out.format === 'table') out.note(`Go on: adjutant chat --session ${short} "…"`);
};

const sayWhy = ({ out }: Context, { status, error }: ChatAnswer): void => {
  if (status !== 'completed')
    out.warn(`It ${status}${error === null ? '' : `: ${oneLine(error)}`}.`);
};

const sessionIdOf = async (context: Context, typed: string): Promise<string> => {
  const client: Client = await context.client();
  const kind = {
    noun: 'session',
    listed: 'sessions list',
    page: async (cursor: string | undefined) => {
      const { sessions, nextCursor } = await client.sessions.list({
        query: { limit: 200, cursor },
      });
      return { rows: sessions.map(({ id, title }) => ({ id, name: title })), nextCursor };
    },
  };
  return resolveId(typed, kind);
};

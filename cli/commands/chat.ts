import { followEvents, type ServerEvent } from '../../src/client/events.js';
import {
  type ChatAnswer,
  type Client,
  type ConversationMessage,
  contracts,
  type Session,
} from '../../src/client/index.js';
import { columnsOf, valueAt } from '../columns.js';
import { type CommandGroup, type Context, command, on, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, interrupted, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { everyPage } from '../pages.js';
import { localTime, oneLine, plainText, safe } from '../text.js';
import { withRecording } from '../voice/record.js';
import { transcribed } from '../voice/transcribe.js';

const messageColumns = columnsOf<ConversationMessage>([
  'seq',
  'role',
  'content',
  'at=createdAt',
  'agent=agentId',
  'id',
]);

const endpoints = await contracts.sessions();

const sessionCrud = crud({
  noun: 'session',
  rows: 'sessions',
  endpoints,
  columns: columnsOf<Session>(
    ['id:data', 'short=id:tail', 'title', 'channel', 'messages=messageCount:number'],
    ['updated=updatedAt:ago'],
  ),
  named: ({ id, title }) => ({ id, name: title }),
});

const sessionMessages = command({
  name: 'messages',
  args: '<session>',
  calls: [endpoints.messages],
  examples: ['4ew6rt', '4ew6rt --all', '4ew6rt --json'],
  fields: () => requestFields(endpoints.messages.query),
  flags: { all: on('Every page, not the first alone') },
  run: async (context, { args, flags, fields }) => {
    const { out, at } = context;
    const { client, id } = await sessionCrud.find(context, args.session);
    const query = await requestFrom(endpoints.messages.query, { fields }, at);
    const page = (cursor?: object) =>
      client.sessions.messages({ id, query: { ...query, ...cursor } });
    const reply = await (flags.all ? everyPage('messages', page) : page());
    if (out.format === 'table') for (const message of reply.messages) read(out, message);
    else out.page({ reply, rows: reply.messages, columns: messageColumns });
    if (reply.nextCursor) out.note('There are more: add --all.');
  },
});

/** One message as a person reads it: who and when, and the text below. */
const read = (
  out: { line(text: string): void },
  { role, content, createdAt, toolCalls }: ConversationMessage,
) => {
  const calls = (toolCalls ?? []).map((call) => `calls ${JSON.stringify(call)}`);
  out.line(`${role}  ${localTime(createdAt)}`);
  for (const line of [...content.split('\n'), ...calls]) out.line(`  ${safe(line)}`);
  out.line('');
};

export const sessionsGroup: CommandGroup = {
  commands: [
    sessionCrud.list({
      examples: ['', '--channel api', '--all --output id'],
      next: ([first]) =>
        first
          ? `Read one: adjutant sessions messages ${first.id.slice(-6)}`
          : 'No sessions yet. An agent begins one: adjutant agents spawn "Say hello"',
    }),
    sessionCrud.get({ examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields title,messages'] }),
    sessionMessages,
  ],
};

const { send } = await contracts.chat();
const END = /^\/(quit|exit|end)$/;

export const chatCommand = command({
  name: 'chat',
  args: '[message]',
  calls: ['chat send', 'chat get', 'voice transcribe'],
  summary: 'Say something to an agent, or have a conversation with it',
  examples: [
    '"What came in today?"',
    '- < question.txt',
    '--session k2v9mq "And yesterday?"',
    '--voice',
    '',
  ],
  fields: () => requestFields(send.body, ['message', 'sessionId']),
  flags: {
    session: textFlag('<id>', 'The conversation to go on with'),
    voice: on('A conversation in which you speak: a recorder on this machine hears you'),
    stream: on('The answer as it is written, in a pipe too; with --json every event'),
  },
  notes: [
    'Without a message, on a terminal: a conversation, which /quit ends.',
    'With --voice enter begins and ends what you say; what is typed is sent as it is.',
    'The message may be - for stdin. ^C stops the agent. Exit 1 unless it completed.',
  ],
  seeAlso: 'adjutant sessions messages, adjutant approvals watch',
  run: async (context, { args, flags, fields }) => {
    const { message } = args;
    const sessionId = flags.session && (await sessionCrud.find(context, flags.session)).id;
    const isStreamed = flags.stream === true || context.out.format === 'table';
    const wishes = { ...fields, ...(sessionId && { sessionId }) };
    if (flags.voice && message !== undefined) throw usageFault('--voice takes no message.');
    if (message === undefined) return converse(context, wishes, flags.voice ? spoken : typed);
    const content = message === '-' ? await readFileOrStdin(context, '-') : message;
    const wanted = await requestOf(context, wishes, content);
    show(context, await answerTo(context, wanted, isStreamed), isStreamed);
  },
});

const requestOf = (context: Context, fields: object, message: string): Promise<ChatFlags> =>
  requestFrom(send.body, { fields: { ...fields }, more: { message } }, context.at);

/** Asks a person for the next message; empty: there is none. */
type NextMessage = (context: Context) => Promise<string>;

const instead = 'the message';

const typed: NextMessage = ({ ask }) => ask.text({ ask: 'You', instead });

/** Takes what is typed, or else what is said until enter is pressed again. */
const spoken: NextMessage = async (context) => {
  const message = await context.ask.text({ ask: 'You (enter to speak)', instead });
  if (message !== '') return message;
  const heard = await withRecording(context, (path) => transcribed(context, path, {}));
  const words = heard?.text?.trim() ?? '';
  if (words !== '') context.out.note(`You: ${oneLine(words)}`);
  else if (heard !== null) context.out.note('No word was understood.');
  return words;
};

/** One message after the other, in one session. */
const converse = async (context: Context, wishes: object, next: NextMessage): Promise<void> => {
  let session = {};
  for (;;) {
    const message = await next(context);
    if (END.test(message)) return;
    if (message === '') continue;
    const wanted = await requestOf(context, { ...wishes, ...session }, message);
    const answer = await answerTo(context, wanted, true);
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

const sayWhy = ({ out }: Context, { status, error, note }: ChatAnswer): void => {
  if (note) out.warn(note);
  if (status !== 'completed')
    out.warn(`It ${status}${error === null ? '' : `: ${oneLine(error)}`}.`);
};

/** One message of a conversation. */
interface ChatFlags {
  message: string;
  sessionId?: string;
  model?: string;
  topic?: string;
  expertId?: string;
}

/**
 * Sends a message, shows the agent's events and resolves to its answer. ^C stops the agent, so that
 * no unread answer is paid for.
 */
const answerTo = async (
  context: Context,
  wanted: ChatFlags,
  isStreamed: boolean,
): Promise<ChatAnswer> => {
  const printer = printerOf(context, isStreamed);
  let answer: ChatAnswer | undefined;
  const signal = patientSignal(context.signal, () => answer !== undefined);
  try {
    for await (const event of eventsOf(context, wanted, signal)) {
      if (isAnswer(event.data)) answer = event.data;
      context.signal.throwIfAborted();
      printer.tell(event);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw await stopped(context, answer);
  }
  if (!answer) throw new Error('The stream ended without an answer');
  return answer;
};

/** The time within which the daemon says which agent it began, so that it can be stopped. */
const FIRST_EVENT_MS = 3000;

/**
 * Returns a signal that follows another: at once if the agent is known, otherwise a moment later. A
 * request that is broken off before its first event may have begun an agent that nobody would stop.
 */
const patientSignal = (signal: AbortSignal, isKnown: () => boolean): AbortSignal => {
  const patient = new AbortController();
  const end = () => patient.abort(signal.reason);
  signal.addEventListener(
    'abort',
    () => (isKnown() ? end() : setTimeout(end, FIRST_EVENT_MS).unref()),
    {
      once: true,
    },
  );
  return patient.signal;
};

const eventsOf = ({ url, token, out }: Context, wanted: ChatFlags, signal: AbortSignal) =>
  followEvents(
    { url, token, signal },
    {
      path: '/api/chat',
      body: wanted,
      last: 'done',
      resumeAt: (first) => (isAnswer(first) ? `/api/chat/${first.agentId}` : null),
      lost: (reason) => out.note(`-- ${reason}, trying --`),
    },
  );

const stopped = async (context: Context, answer: ChatAnswer | undefined) => {
  if (!answer) return interrupted();
  const client: Client = (await context.client()).with({ signal: undefined });
  const { agentId: id, sessionId } = answer;
  try {
    await client.agents.stop({ id });
    return interrupted(`Stopped. Go on: adjutant chat --session ${sessionId.slice(-6)}`);
  } catch {
    return interrupted(`Whether it stopped is not known: adjutant agents get ${id.slice(-6)}`);
  }
};

const isAnswer = (data: unknown): data is ChatAnswer =>
  typeof data === 'object' && data !== null && 'sessionId' in data && 'agentId' in data;

/** Prints the text as it is generated, and on stderr the agent's calls. */
const printerOf = ({ out }: Context, isStreamed: boolean) => {
  let written = '';
  const tellMessage = (content: string): void => {
    if (!isStreamed) return;
    // Another model may have begun the answer anew: what counts is what was said in the end.
    const isAsWritten = content.trim() === written.trim();
    if (!isAsWritten) out.piece(`${written === '' ? '' : '\n'}${out.folded(safe(content))}`);
    if (content !== '' || written !== '') out.piece('\n');
    written = '';
  };
  const tellRestart = (): void => {
    if (written !== '') out.piece('\n-- that was reasoning --\n');
    written = '';
  };
  const tellPiece = (text: string): void => {
    if (!isStreamed || text === '') return;
    // What comes in one piece, as the digest's text does, can be folded.
    out.piece(written === '' ? out.folded(safe(text)) : safe(text));
    written += text;
  };
  return {
    tell: ({ event, data }: ServerEvent): void => {
      const of = (path: string) => plainText(valueAt(data, path));
      if (out.format === 'json') {
        if (isStreamed) out.json({ event, data });
      } else if (event === 'agent.message') tellMessage(of('data.content'));
      else if (event === 'agent.tool_call') for (const line of callNotes(of)) out.note(line);
      else if (event === 'delta') {
        if (valueAt(data, 'restart') === true) tellRestart();
        tellPiece(of('text'));
      }
    },
  };
};

const callNotes = (of: (path: string) => string): string[] => {
  const call = oneLine(`${of('data.tool')}  ${of('data.arguments')}`).slice(0, 300);
  if (of('data.phase') === 'call') return [`-- ${call} --`];
  if (of('data.phase') !== 'approval' || of('data.status') !== 'pending') return [];
  const short = of('data.digest').slice(0, 8);
  return [
    `-- it waits for your approval: ${call} --`,
    `   read and answer it in another terminal: adjutant approvals approve ${short}`,
  ];
};

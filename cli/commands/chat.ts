import { followEvents, type ServerEvent } from '../../src/client/events.js';
import {
  type ChatAnswer,
  type Client,
  type ConversationMessage,
  contracts,
  type Session,
} from '../../src/client/index.js';
import { buildColumns, valueAt } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, interrupted, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readPipedText } from '../input.js';
import { everyPage } from '../pages.js';
import { localTime, oneLine, plainText, safe } from '../text.js';
import { withRecording } from '../voice/record.js';
import { transcribeFile } from '../voice/transcribe.js';

const messageColumns = buildColumns<ConversationMessage>([
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
  columns: buildColumns<Session>(
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
  flags: { all: switchFlag('Fetch all pages, not only the first') },
  run: async (context, { args, flags, fields }) => {
    const { out, at } = context;
    const { client, id } = await sessionCrud.find(context, args.session);
    const query = await requestFrom(endpoints.messages.query, { fields }, at);
    const page = (cursor?: object) =>
      client.sessions.messages({ id, query: { ...query, ...cursor } });
    const reply = await (flags.all ? everyPage('messages', page) : page());
    if (out.format === 'table') for (const message of reply.messages) read(out, message);
    else out.page({ reply, rows: reply.messages, columns: messageColumns });
    if (reply.nextCursor) out.note('There are more. Add --all.');
  },
});

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
          : 'No conversations yet. Start one: adjutant agents spawn "Say hello"',
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
  summary: 'Send a message to an agent, or start a chat',
  examples: [
    '"What came in today?"',
    '- < question.txt',
    '--session k2v9mq "And yesterday?"',
    '--voice',
    '',
  ],
  fields: () => requestFields(send.body, ['message', 'sessionId']),
  flags: {
    session: textFlag(
      '<id>',
      'Id of the conversation to continue. If omitted, a new conversation starts',
    ),
    voice: switchFlag('Speak your messages. The microphone of this machine records the speech'),
    stream: switchFlag(
      'Print the reply as it is generated, also in a pipe. With --json, print every event',
    ),
  },
  notes: [
    'Without a message, on a terminal: a conversation. /quit ends it.',
    'With --voice, the enter key starts and stops the recording. Typed text is sent unchanged.',
    'Pass - to read the message from stdin. ^C stops the agent. Exit code 1 if the agent did not complete.',
  ],
  seeAlso: 'adjutant sessions messages, adjutant approvals watch',
  run: async (context, { args, flags, fields }) => {
    const { message } = args;
    const sessionId = flags.session && (await sessionCrud.find(context, flags.session)).id;
    const isStreamed = flags.stream === true || context.out.format === 'table';
    const wishes = { ...fields, ...(sessionId && { sessionId }) };
    if (flags.voice && message !== undefined)
      throw usageFault('--voice cannot be combined with a message. Remove one of them.');
    if (message === undefined) return converse(context, wishes, flags.voice ? spoken : typed);
    const content = message === '-' ? await readPipedText(context) : message;
    const wanted = await buildChatRequest(context, wishes, content);
    show(context, await answerTo(context, wanted, isStreamed), isStreamed);
  },
});

const buildChatRequest = (context: Context, fields: object, message: string): Promise<ChatFlags> =>
  requestFrom(send.body, { fields: { ...fields }, more: { message } }, context.at);

/** Returns an empty string if there is no message. */
type NextMessage = (context: Context) => Promise<string>;

const instead = 'the message';

const typed: NextMessage = ({ ask }) => ask.text({ ask: 'You', instead });

/** Takes typed text, or else speech until enter is pressed again. */
const spoken: NextMessage = async (context) => {
  const message = await context.ask.text({ ask: 'You (enter to speak)', instead });
  if (message !== '') return message;
  const transcription = await withRecording(context, (path) => transcribeFile(context, path, {}));
  const words = transcription?.text?.trim() ?? '';
  if (words !== '') context.out.note(`You: ${oneLine(words)}`);
  else if (transcription !== null) context.out.note('No speech was recognized.');
  return words;
};

const converse = async (context: Context, wishes: object, next: NextMessage): Promise<void> => {
  let session = {};
  for (;;) {
    const message = await next(context);
    if (END.test(message)) return;
    if (message === '') continue;
    const wanted = await buildChatRequest(context, { ...wishes, ...session }, message);
    const answer = await answerTo(context, wanted, true);
    reportFailure(context, answer);
    session = { sessionId: answer.sessionId };
  }
};

/** Prints what was not streamed. */
const show = (context: Context, answer: ChatAnswer, isStreamed: boolean): void => {
  const { out } = context;
  if (out.format === 'json' && !isStreamed) out.json(answer);
  if (out.format === 'id') out.line(answer.agentId);
  if (out.format === 'tsv' && !isStreamed && answer.message) out.line(safe(answer.message));
  reportFailure(context, answer);
  if (answer.status !== 'completed') context.exitCode = Exit.failed;
  const short = answer.sessionId.slice(-6);
  if (out.format === 'table') out.note(`Continue: adjutant chat --session ${short} "…"`);
};

const reportFailure = ({ out }: Context, { status, error, note }: ChatAnswer): void => {
  if (note) out.warn(note);
  if (status !== 'completed')
    out.warn(`The agent ${status}${error === null ? '' : `: ${oneLine(error)}`}.`);
};

interface ChatFlags {
  message: string;
  sessionId?: string;
  model?: string;
  topic?: string;
  expertId?: string;
}

/**
 * Sends a message, prints the agent's events and resolves to the reply. ^C stops the agent, so
 * that no unread reply is paid for.
 */
const answerTo = async (
  context: Context,
  wanted: ChatFlags,
  isStreamed: boolean,
): Promise<ChatAnswer> => {
  const printer = createChatPrinter(context, isStreamed);
  let answer: ChatAnswer | undefined;
  const signal = patientSignal(context, () => answer !== undefined);
  try {
    for await (const event of streamChatEvents(context, wanted, signal)) {
      if (isAnswer(event.data)) answer = event.data;
      context.signal.throwIfAborted();
      printer.tell(event);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw await stopped(context, answer);
  }
  if (!answer)
    throw new Error(
      'The stream of the daemon ended without a reply. Find the agent with: adjutant agents list',
    );
  return answer;
};

/** Time in which the daemon names the agent it started, so that it can be stopped. */
const FIRST_EVENT_MS = 3000;

/**
 * Returns a signal that follows another: at once if the agent is known, otherwise after a delay.
 * A request aborted before its first event could leave an agent running.
 */
const patientSignal = ({ signal, clock }: Context, isKnown: () => boolean): AbortSignal => {
  const patient = new AbortController();
  const end = () => patient.abort(signal.reason);
  signal.addEventListener(
    'abort',
    () => (isKnown() ? end() : clock.after(FIRST_EVENT_MS, end, { ref: false })),
    { once: true },
  );
  return patient.signal;
};

const streamChatEvents = (
  { url, token, out, clock }: Context,
  wanted: ChatFlags,
  signal: AbortSignal,
) =>
  followEvents(
    { url, token, signal, clock },
    {
      path: '/api/chat',
      body: wanted,
      last: 'done',
      resumeAt: (first) => (isAnswer(first) ? `/api/chat/${first.agentId}` : null),
      lost: (reason) => out.note(`-- ${reason}, reconnecting --`),
    },
  );

const stopped = async (context: Context, answer: ChatAnswer | undefined) => {
  if (!answer) return interrupted();
  const client: Client = (await context.client()).with({ signal: undefined });
  const { agentId: id, sessionId } = answer;
  try {
    await client.agents.stop({ id });
    return interrupted(`Stopped. Continue: adjutant chat --session ${sessionId.slice(-6)}`);
  } catch {
    return interrupted(
      `Cannot tell whether the agent stopped. Check it: adjutant agents get ${id.slice(-6)}`,
    );
  }
};

const isAnswer = (data: unknown): data is ChatAnswer =>
  typeof data === 'object' && data !== null && 'sessionId' in data && 'agentId' in data;

const createChatPrinter = ({ out }: Context, isStreamed: boolean) => {
  let written = '';
  const printMessage = (content: string): void => {
    if (!isStreamed) return;
    // A fallback model may have started the reply again. The final message counts.
    const isAsWritten = content.trim() === written.trim();
    if (!isAsWritten) out.piece(`${written === '' ? '' : '\n'}${out.folded(safe(content))}`);
    if (content !== '' || written !== '') out.piece('\n');
    written = '';
  };
  const printRestart = (): void => {
    if (written !== '') out.piece('\n-- the reply starts again --\n');
    written = '';
  };
  const printPiece = (text: string): void => {
    if (!isStreamed || text === '') return;
    // Text that comes in one piece, such as that of the digest, can be folded.
    out.piece(written === '' ? out.folded(safe(text)) : safe(text));
    written += text;
  };
  return {
    tell: ({ event, data }: ServerEvent): void => {
      const of = (path: string) => plainText(valueAt(data, path));
      if (out.format === 'json') {
        if (isStreamed) out.json({ event, data });
      } else if (event === 'agent.message') printMessage(of('data.content'));
      else if (event === 'agent.tool_call') for (const line of callNotes(of)) out.note(line);
      else if (event === 'delta') {
        if (valueAt(data, 'restart') === true) printRestart();
        printPiece(of('text'));
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
    `-- waiting for your approval: ${call} --`,
    `   decide it in another terminal: adjutant approvals approve ${short}`,
  ];
};

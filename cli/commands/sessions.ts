import { type ConversationMessage, contracts, type Session } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command, on } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';
import { ago, localTime } from '../times.js';

const columns: TableColumn<Session>[] = [
  { name: 'id', value: (session) => session.id, only: 'data' },
  { name: 'short', value: (session) => session.id.slice(-6), only: 'table' },
  ...fieldColumns('title', 'channel'),
  { name: 'messages', value: (session) => session.messageCount, isNumber: true },
  shownAs('updated', (session) => session.updatedAt, ago, 'never'),
];

const messageColumns: TableColumn<ConversationMessage>[] = [
  ...fieldColumns('seq', 'role', 'content'),
  { name: 'at', value: (message) => message.createdAt },
  { name: 'agent', value: (message) => message.agentId },
  { name: 'id', value: (message) => message.id },
];

const endpoints = await contracts.sessions();
const { messages } = endpoints;

const sessionCrud = crud({
  noun: 'session',
  rows: 'sessions',
  endpoints,
  columns,
  named: ({ id, title }) => ({ id, name: title }),
});

const sessionMessages = command({
  name: 'messages',
  args: '<session>',
  calls: [messages],
  examples: ['4ew6rt', '4ew6rt --all', '4ew6rt --json'],
  fields: () => requestFields(messages.query),
  flags: { all: on('Every page, not the first alone') },
  run: async (context, { args, flags, fields }) => {
    const { out, at } = context;
    const { client, id } = await sessionCrud.find(context, args.session);
    const query = await requestFrom(messages.query, { fields }, at);
    const reply = await client.sessions.messages({ id, query });
    while (flags.all && reply.nextCursor !== null) {
      const more = { ...query, cursor: reply.nextCursor };
      const page = await client.sessions.messages({ id, query: more });
      reply.messages.push(...page.messages);
      reply.nextCursor = page.nextCursor;
    }
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

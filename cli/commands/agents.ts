import { contracts } from '../../src/client/index.js';
import { agentColumns, agentId } from '../agents/columns.js';
import { eventLines, eventRow } from '../agents/lines.js';
import { followToEnd, tailAgent } from '../agents/tail.js';
import { agentTree } from '../agents/tree.js';
import { waitForAgent } from '../agents/wait.js';
import { type Command, command, type Group, on } from '../command.js';
import { fieldsOf, requestFrom } from '../fields.js';
import { readInput } from '../input.js';
import { listing } from '../listing.js';
import { safe } from '../text.js';

const endpoints = await contracts.agents();

const list = listing({
  name: 'list',
  args: '',
  summary: endpoints.list.summary,
  examples: ['', '--status running --watch', '--untrusted --json'],
  query: endpoints.list.query,
  key: 'agents',
  columns: agentColumns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.agents.list({ query });
  },
  next: ([first]) =>
    first
      ? `Follow one: adjutant agents tail ${first.id.slice(-6)}`
      : 'No agents. Spawn one: adjutant agents spawn "Say hello"',
  seeAlso: 'adjutant help agents',
});

const spawn = command({
  name: 'spawn',
  aliases: ['create', 'add'],
  args: '[prompt]',
  summary: endpoints.spawn.summary,
  examples: [
    '"What changed in the log of today?"',
    '- --name report < prompt.txt',
    '--data @agent.json',
    '"Say hello" --follow',
  ],
  flags: { follow: on('Show what it does until it ends; exit 1 unless it completed') },
  fields: () => fieldsOf(endpoints.spawn.body),
  takesData: true,
  notes: ['The prompt may be - for stdin.'],
  seeAlso: 'adjutant agents tail, adjutant agents wait',
  run: async (context, { args, flags, fields, data }) => {
    const isGiven = data !== undefined || fields.prompt !== undefined;
    const asked = () => context.ask.text({ ask: 'Prompt', instead: 'the prompt' });
    const typed = args.prompt ?? (isGiven ? undefined : await asked());
    const prompt = typed === '-' ? await readInput(context, '-') : typed;
    const filled = { fields, data, more: { prompt } };
    const body = await requestFrom(endpoints.spawn.body, filled, context.at);
    const agent = await (await context.client()).agents.spawn({ body });
    if (flags.follow) return followToEnd(context, agent);
    const follow = `Follow it: adjutant agents tail ${agent.id.slice(-6)}`;
    context.out.done(`Spawned ${safe(agent.name)}. ${follow}`, agent, agentColumns);
  },
});

const get = command({
  name: 'get',
  args: '<agent>',
  summary: endpoints.get.summary,
  examples: ['triage-415', '9qx1tb --fields status,result', 'triage-415 --json'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await agentId(client, args.agent);
    context.out.item(await client.agents.get({ id }), agentColumns);
  },
});

const message = command({
  name: 'message',
  args: '<agent> <text>',
  summary: endpoints.message.summary,
  examples: ['triage-415 "Only label it."', 'triage-415 - < note.txt', '9qx1tb "Once more" --json'],
  notes: ['The text may be - for stdin.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await agentId(client, args.agent);
    const content = args.text === '-' ? await readInput(context, '-') : args.text;
    const agent = await client.agents.message({ id, body: { content } });
    context.out.done(`Told ${safe(agent.name)}, which is ${agent.status}.`, agent, agentColumns);
  },
});

const did = { pause: 'is paused', resume: 'goes on', stop: 'is stopped' };

/** `pause`, `resume` and `stop`. */
const move = (name: keyof typeof did): Command<'<agent>'> =>
  command({
    name,
    args: '<agent>',
    summary: endpoints[name].summary,
    examples: [
      'triage-415',
      '9qx1tb --json',
      `agents list --hook-id hook_01j9… --output id | xargs -n1 adjutant agents ${name}`,
    ],
    run: async (context, { args }) => {
      const client = await context.client();
      const agent = await client.agents[name]({ id: await agentId(client, args.agent) });
      context.out.done(`${safe(agent.name)} ${did[name]}.`, agent, agentColumns);
    },
  });

const remove = command({
  name: 'delete',
  args: '<agent>',
  summary: endpoints.delete.summary,
  examples: ['triage-415', 'triage-415 --yes', '9qx1tb --yes'],
  notes: ['To stop it and keep it: adjutant agents stop.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const agent = await client.agents.get({ id: await agentId(client, args.agent) });
    await context.ask.confirm(`Delete agent ${safe(agent.name)} (${agent.status})?`);
    await client.agents.delete({ id: agent.id });
    context.out.done(`Deleted ${safe(agent.name)}.`);
  },
});

const events = command({
  name: 'events',
  args: '<agent>',
  summary: endpoints.events.summary,
  examples: ['triage-415', 'triage-415 --after 40 --wait 25 --json', 'triage-415 --limit 10'],
  fields: () => fieldsOf(endpoints.events.query),
  seeAlso: 'adjutant agents tail, which follows',
  run: async (context, { args, fields }) => {
    const { out, at } = context;
    const query = await requestFrom(endpoints.events.query, { fields }, at);
    const client = await context.client();
    const id = await agentId(client, args.agent);
    const reply = await client.agents.events({ id, query });
    if (out.format === 'json') return out.json(reply);
    for (const event of reply.events) {
      const lines = out.format === 'table' ? eventLines(event, out.width) : [eventRow(event)];
      for (const line of lines) out.line(line);
    }
    if (reply.gap) out.note(`-- events before ${reply.oldestId} were dropped by the ring --`);
  },
});

export const agents: Group = {
  name: 'agents',
  summary: 'The runs that hooks and you began',
  commands: [
    list,
    spawn,
    get,
    message,
    move('pause'),
    move('resume'),
    move('stop'),
    remove,
    events,
    tailAgent,
    agentTree,
    waitForAgent,
  ],
  notes: ['An agent is named by its name, its id, or the last six characters of that.'],
};

import { contracts } from '../../src/client/index.js';
import { agentCrud, agentTableColumns } from '../agents/columns.js';
import { eventLines, eventRow } from '../agents/lines.js';
import { followToEnd, tailAgent } from '../agents/tail.js';
import { agentTree } from '../agents/tree.js';
import { agentWait } from '../agents/wait.js';
import { type CommandGroup, command, on } from '../command.js';
import { requestFields, requestFrom } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { safe } from '../text.js';

const endpoints = await contracts.agents();

const spawn = command({
  name: 'spawn',
  aliases: ['create', 'add'],
  args: '[prompt]',
  calls: [endpoints.spawn],
  examples: [
    '"What changed in the log of today?"',
    '- --name report < prompt.txt',
    '--data @agent.json',
    '"Say hello" --follow',
  ],
  flags: { follow: on('Show what it does until it ends; exit 1 unless it completed') },
  fields: () => requestFields(endpoints.spawn.body),
  takesData: true,
  notes: ['The prompt may be - for stdin.'],
  seeAlso: 'adjutant agents tail, adjutant agents wait',
  run: async (context, { args, flags, fields, data }) => {
    const isGiven = data !== undefined || fields.prompt !== undefined;
    const asked = () => context.ask.text({ ask: 'Prompt', instead: 'the prompt' });
    const typed = args.prompt ?? (isGiven ? undefined : await asked());
    const prompt = typed === '-' ? await readFileOrStdin(context, '-') : typed;
    const filled = { fields, data, more: { prompt } };
    const body = await requestFrom(endpoints.spawn.body, filled, context.at);
    const agent = await (await context.client()).agents.spawn({ body });
    if (flags.follow) return followToEnd(context, agent);
    const follow = `Follow it: adjutant agents tail ${agent.id.slice(-6)}`;
    context.out.done(`Spawned ${safe(agent.name)}. ${follow}`, agent, agentTableColumns);
  },
});

const message = command({
  name: 'message',
  args: '<agent> <text>',
  calls: [endpoints.message],
  examples: ['triage-415 "Only label it."', 'triage-415 - < note.txt', '9qx1tb "Once more" --json'],
  notes: ['The text may be - for stdin.'],
  run: async (context, { args }) => {
    const { client, id } = await agentCrud.find(context, args.agent);
    const content = args.text === '-' ? await readFileOrStdin(context, '-') : args.text;
    const agent = await client.agents.message({ id, body: { content } });
    context.out.done(
      `Told ${safe(agent.name)}, which is ${agent.status}.`,
      agent,
      agentTableColumns,
    );
  },
});

/** `pause`, `resume` and `stop`. */
const move = (name: 'pause' | 'resume' | 'stop', became: string) =>
  agentCrud.act(name, endpoints[name], {
    examples: [
      'triage-415',
      '9qx1tb --json',
      `agents list --hook-id hook_01j9… --output id | xargs -n1 adjutant agents ${name}`,
    ],
    said: (agent) => `${safe(agent.name)} ${became}.`,
  });

const events = command({
  name: 'events',
  args: '<agent>',
  calls: [endpoints.events],
  examples: ['triage-415', 'triage-415 --after 40 --wait 25 --json', 'triage-415 --limit 10'],
  fields: () => requestFields(endpoints.events.query),
  seeAlso: 'adjutant agents tail, which follows',
  run: async (context, { args, fields }) => {
    const { out, at } = context;
    const query = await requestFrom(endpoints.events.query, { fields }, at);
    const { client, id } = await agentCrud.find(context, args.agent);
    const reply = await client.agents.events({ id, query });
    if (out.format === 'json') return out.json(reply);
    for (const event of reply.events) {
      const lines = out.format === 'table' ? eventLines(event, out.width) : [eventRow(event)];
      for (const line of lines) out.line(line);
    }
    if (reply.gap) out.note(`-- events before ${reply.oldestId} were dropped by the ring --`);
  },
});

export const agentsGroup: CommandGroup = {
  commands: [
    agentCrud.list({
      examples: ['', '--status running --watch', '--untrusted --json'],
      next: ([first]) =>
        first
          ? `Follow one: adjutant agents tail ${first.id.slice(-6)}`
          : 'No agents. Spawn one: adjutant agents spawn "Say hello"',
      seeAlso: 'adjutant help agents',
    }),
    spawn,
    agentCrud.get({
      examples: ['triage-415', '9qx1tb --fields status,result', 'triage-415 --json'],
    }),
    message,
    move('pause', 'is paused'),
    move('resume', 'goes on'),
    move('stop', 'is stopped'),
    agentCrud.delete({
      examples: ['triage-415', 'triage-415 --yes', '9qx1tb --yes'],
      notes: ['To stop it and keep it: adjutant agents stop.'],
      ask: ({ name, status }) => `Delete agent ${safe(name)} (${status})?`,
    }),
    events,
    tailAgent,
    agentTree,
    agentWait,
  ],
  notes: ['An agent is named by its name, its id, or the last six characters of that.'],
};

import { type AgentNote, followAgent } from '../../src/client/follow.js';
import type { Agent, Client } from '../../src/client/index.js';
import { live } from '../../src/client/socket.js';
import { now } from '../clock.js';
import { command, on, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { Exit, interrupted, usageFault } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { localTime } from '../times.js';
import { agentCost, agentTableColumns, isAgentOver, trustText } from './columns.js';
import { eventLines, eventRow } from './lines.js';
import { readAgent } from './target.js';

const CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

export const tailAgent = command({
  name: 'tail',
  args: '[agent]',
  summary: 'What an agent does, from its first event on',
  examples: ['triage-415', '--execution 9qx1tb --until-done', 'triage-415 --json | jq .data'],
  flags: {
    execution: textFlag('<id>', 'The agent that this run of a hook began'),
    since: {
      value: '<number>',
      about: 'Events after that one',
      read: (given) => {
        if (!/^\d+$/.test(given)) throw usageFault('--since is the number of an event.');
        return Number(given);
      },
    },
    untilDone: on('End when the agent has ended; exit 1 unless it completed'),
  },
  notes: [
    'It goes on through lost connections, and says which events are missing, if any are.',
    'In a pipe: number, time, type, text; notes on stderr. --json: one event a line.',
  ],
  seeAlso: 'adjutant agents wait, adjutant sessions messages',
  run: async (context, { args, flags }) => {
    const client = await context.listener();
    const agent = await readAgent(client, { agent: args.agent, execution: flags.execution });
    if (context.out.format === 'table') context.out.line(headline(agent));
    const tail = { context, client, agent, after: flags.since ?? 0 };
    for await (const ended of endings(tail)) {
      // Its last message was the answer.
      sayEnded(
        context,
        ended,
        flags.untilDone ? '' : '; it may be given another turn: ^C ends, or --until-done',
      );
      if (flags.untilDone) return;
    }
  },
});

/** Follows an agent to its end, as `tail --until-done` does. */
export const followToEnd = async (context: Context, agent: Agent): Promise<void> => {
  const client = await context.listener();
  for await (const ended of endings({ context, client, agent, after: 0 })) {
    sayEnded(context, ended);
    return;
  }
};

interface Tail {
  context: Context;
  client: Client;
  agent: Agent;
  after: number;
}

/** Prints what comes, and gives the agent each time that it has ended. */
async function* endings({ context, client, agent, after }: Tail): AsyncGenerator<Agent> {
  const { url, token, signal } = context;
  const stream = live({ url, token, signal, now, channels: CHANNELS });
  let latest = agent;
  try {
    for await (const note of followAgent({ client, stream, agentId: agent.id, after })) {
      print(context, agent, note);
      if (note.type !== 'event' || note.event.type !== 'agent.status') continue;
      // The agent first: what it came to after that is an event that is newer than this one.
      latest = await client.agents.get({ id: agent.id });
      const { lastId } = await client.agents.events({
        id: agent.id,
        query: { after: note.event.id },
      });
      // Only the newest event tells how things stand: an agent may have been given another turn.
      if (lastId === note.event.id && isAgentOver(latest)) yield latest;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    const again = `adjutant agents tail ${agent.id.slice(-6)}`;
    throw interrupted(...(isAgentOver(latest) ? [] : [`The agent goes on: ${again}`]));
  }
}

const headline = (agent: Agent): string =>
  [agent.name, agent.status, trustText(agent), agent.model].map(oneLine).join('  ');

const print = ({ out }: Context, agent: Agent, note: AgentNote): void => {
  if (note.type !== 'event') out.note(`-- ${remark(agent, note)} --`);
  else if (out.format === 'json') out.json(note.event);
  else if (out.format === 'id') out.line(String(note.event.id));
  else if (out.format === 'tsv') out.line(eventRow(note.event));
  else for (const line of eventLines(note.event, out.width)) out.line(line);
};

const remark = (agent: Agent, note: Exclude<AgentNote, { type: 'event' }>): string => {
  const at = localTime(new Date(now()).toISOString());
  if (note.type === 'lost') return `lost the daemon ${at} (${note.reason}), trying`;
  if (note.type === 'back') {
    return `back ${at}, ${note.caughtUp} caught up, ${note.missing || 'none'} missing`;
  }
  const session = `adjutant sessions messages ${agent.sessionId.slice(-6)}`;
  return `events ${note.from} to ${note.to} were dropped by the ring; read them: ${session}`;
};

/** Prints how the agent ended and sets the exit code for a script. */
const sayEnded = (context: Context, agent: Agent, more = ''): void => {
  if (agent.status !== 'completed') context.exitCode = Exit.failed;
  const steps = `${agent.steps} step${agent.steps === 1 ? '' : 's'}`;
  context.out.note(`-- ${agent.status}, ${steps}, ${agentCost(agent)}${more} --`);
};

/** Prints the answer for a person, the agent itself in every other format. */
export const showEnded = (context: Context, agent: Agent): void => {
  const { out } = context;
  const answer = agent.error ?? agent.result;
  if (out.format !== 'table') out.item(agent, agentTableColumns);
  else if (answer) out.line(safe(answer));
  sayEnded(context, agent);
};

import type { Agent, Client } from '../../src/client/index.js';
import { command, on, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';
import { oneLine } from '../text.js';
import { agentTableColumns, isAgentOver } from './columns.js';
import { showEnded } from './tail.js';
import { readAgent } from './target.js';

const WAIT_SECONDS = 25;

export const agentWait = command({
  name: 'wait',
  args: '[agent]',
  summary: 'Wait until an agent has ended, and show what it came to',
  examples: [
    'triage-415',
    '--execution 9qx1tb --timeout 60',
    'triage-415 --until-waiting',
    'triage-415 --json | jq -r .result',
  ],
  flags: {
    execution: textFlag('<id>', 'The agent that this run of a hook began'),
    untilWaiting: on('End as well when it waits for an approval, or is paused'),
  },
  notes: [
    'Exit 0 where it completed, or waits with --until-waiting; 1 where it failed or was stopped;',
    '124 where the time of --timeout was over first. The agent goes on then.',
  ],
  seeAlso: 'adjutant agents tail',
  run: async (context, { args, flags }) => {
    const client = await context.listener();
    const agent = await readAgent(client, { agent: args.agent, execution: flags.execution });
    try {
      const now = await ended(context, client, { agent, ...flags });
      if (isAgentOver(now)) showEnded(context, now);
      else context.out.done(`${oneLine(now.name)} is ${now.status}.`, now, agentTableColumns);
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw interrupted(`The agent goes on: adjutant agents tail ${agent.id.slice(-6)}`);
    }
  },
});

interface WaitedFor {
  agent: Agent;
  untilWaiting?: boolean;
}

const ended = async (
  { out }: Context,
  client: Client,
  { agent: { id }, untilWaiting = false }: WaitedFor,
): Promise<Agent> => {
  let { lastId: after } = await client.agents.events({ id, query: { limit: 1 } });
  let told = '';
  for (;;) {
    const now = await client.agents.get({ id });
    if (isAgentOver(now)) return now;
    const rests = now.status === 'paused' || now.status === 'waiting_approval';
    if (rests && untilWaiting) return now;
    if (rests && told !== now.status)
      out.note(`${oneLine(now.name)} is ${now.status}. Still waiting.`);
    told = now.status;
    const news = await client.agents.events({ id, query: { after, wait: WAIT_SECONDS } });
    after = Math.max(after, news.lastId);
  }
};

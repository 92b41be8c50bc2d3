import { type AgentNote, type FollowedAgentEvent, followAgent } from '../../src/client/follow.js';
import type { Agent, Client } from '../../src/client/index.js';
import { DELTAS } from '../../src/client/replytext.js';
import { usesScreenReader } from '../../src/client/session.js';
import { live } from '../../src/client/socket.js';
import { formatPassedOver } from '../../src/kernel/passedover.js';
import { valueAt } from '../columns.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { Exit, interrupted, usageFault } from '../exit.js';
import { connectionRemark } from '../live.js';
import {
  cell,
  cutToWidth,
  duration,
  formatCount,
  localTime,
  oneLine,
  padded,
  plainText,
  safe,
  wrapped,
} from '../text.js';
import { agentCost, agentTableColumns, isAgentOver, readAgent, trustText } from './agent.js';
import { openStepLines } from './steplines.js';

interface EventText {
  kind: string;
  text: string;
}

const NUMBER_WIDTH = 4;
const KIND_WIDTH = 8;
const MIN_TEXT_WIDTH = 20;

export const eventLines = (event: FollowedAgentEvent, width: number): string[] => {
  const { kind, text } = eventText(event);
  const number = String(event.id).padStart(NUMBER_WIDTH);
  const head = `${number} ${localTime(event.at)}  ${padded(kind, KIND_WIDTH)}  `;
  if (event.type !== 'agent.message') return [cutToWidth(head + oneLine(text), width)];
  const indent = ' '.repeat(head.length);
  const room = Math.max(MIN_TEXT_WIDTH, width - head.length);
  const notes = [plainText(valueAt(event.data, 'note')), formatPassedOver(event.data) ?? ''];
  const remarks = notes.filter((note) => note !== '').map((note) => `\n-- ${note} --`);
  const lines = safe(`${text}${remarks.join('')}`)
    .split('\n')
    .flatMap((line) => wrapped(line, room));
  return lines.map((line, at) => ((at === 0 ? head : indent) + line).trimEnd());
};

/** One event as tab-separated values: number, time, type, text. */
export const eventRow = (event: FollowedAgentEvent): string =>
  [event.id, event.at, event.type, eventText(event).text].map(cell).join('\t');

const eventText = (event: FollowedAgentEvent): EventText => {
  const of = (path: string) => plainText(valueAt(event.data, path));
  if (event.type === 'agent.status') {
    const reason = of('error');
    const others = namesIn(valueAt(event.data, 'waitingFor'));
    if (others.length > 0) return { kind: 'status', text: `waiting for ${others.join(', ')}` };
    return { kind: 'status', text: reason ? `${of('status')}: ${oneLine(reason)}` : of('status') };
  }
  if (event.type === 'agent.message') return { kind: 'message', text: of('content') };
  const phase = of('phase');
  if (phase === 'call') {
    const grant = of('grantId');
    const by = grant === '' ? '' : `by ${grant}  `;
    return { kind: 'call', text: `${of('tool')}  ${by}${of('arguments')}` };
  }
  if (phase === 'approval' && of('status') !== 'pending') {
    return { kind: 'approval', text: `${of('tool')} ${of('status')}` };
  }
  if (phase === 'approval') {
    const digest = of('digest').slice(0, 8);
    return { kind: 'approval', text: `${of('tool')}  ${of('arguments')}  ${digest}` };
  }
  const outcome = of('ok') === 'true' ? 'ok' : 'failed';
  const took = duration(Number(of('ms')));
  return { kind: phase, text: `${outcome}, ${took}  ${oneLine(of('result'))}` };
};

const namesIn = (waitingFor: unknown): string[] =>
  Array.isArray(waitingFor) ? waitingFor.map((agent) => plainText(valueAt(agent, 'name'))) : [];

const CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

export const tailAgent = command({
  name: 'tail',
  args: '[agent]',
  summary: "Stream an agent's events",
  examples: ['triage-415', '--execution 9qx1tb --until-done', 'triage-415 --json | jq .data'],
  flags: {
    execution: textFlag('<id>', 'Id of the hook execution whose agent is followed'),
    since: {
      value: '<number>',
      about: 'Event number. Only events after this number are shown',
      read: (input) => {
        if (!/^\d+$/.test(input))
          throw usageFault('--since must be the number of an event, such as 12.');
        return Number(input);
      },
    },
    untilDone: switchFlag('Exit when the agent ends. Exit code 1 if the agent did not complete'),
  },
  notes: [
    'Reconnects after a lost connection and reports missing events.',
    'A terminal shows the reply as it is generated, with the elapsed time of the step.',
    'In a pipe: number, time, type, text; notes go to stderr. With --json: one event per line.',
  ],
  seeAlso: 'adjutant agents wait, adjutant sessions messages',
  run: async (context, { args, flags }) => {
    const client = await context.listener();
    const agent = await readAgent(client, { agent: args.agent, execution: flags.execution });
    if (context.out.format === 'table') context.out.line(headline(agent));
    const tail = { context, client, agent, after: flags.since ?? 0 };
    for await (const ended of agentEnds(tail)) {
      // The last message was the result.
      printEnd(
        context,
        ended,
        flags.untilDone ? '' : '; it can run again: ^C exits, or use --until-done',
      );
      if (flags.untilDone) return;
    }
  },
});

export const followToEnd = async (context: Context, agent: Agent): Promise<void> => {
  const client = await context.listener();
  for await (const ended of agentEnds({ context, client, agent, after: 0 })) {
    printEnd(context, ended);
    return;
  }
};

interface AgentTail {
  context: Context;
  client: Client;
  agent: Agent;
  after: number;
}

/** Prints the events and yields the agent each time that it ends. */
async function* agentEnds({ context, client, agent, after }: AgentTail): AsyncGenerator<Agent> {
  const { url, token, signal, clock } = context;
  const below = isLive(context) ? openStepLines(context.out, clock) : null;
  const channels = below ? [...CHANNELS, DELTAS] : CHANNELS;
  const stream = live({ url, token, signal, clock, channels });
  let latest = agent;
  try {
    for await (const note of followAgent({ client, stream, agentId: agent.id, after })) {
      if (note.type === 'delta') {
        below?.grew(note.delta);
        continue;
      }
      below?.clear();
      print(context, agent, note);
      if (note.type === 'lost') below?.pause();
      if (note.type === 'event') below?.after(note.event);
      if (note.type !== 'event' || note.event.type !== 'agent.status') continue;
      // Read the agent before its events, so that a later change shows as a newer event.
      latest = await client.agents.get({ id: agent.id });
      const { lastId } = await client.agents.events({
        id: agent.id,
        query: { after: note.event.id },
      });
      // Only the newest event shows the current state: the agent may have started another turn.
      if (lastId === note.event.id && isAgentOver(latest)) yield latest;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    const again = `adjutant agents tail ${agent.id.slice(-6)}`;
    throw interrupted(
      ...(isAgentOver(latest) ? [] : [`The agent continues to run. Follow it: ${again}`]),
    );
  } finally {
    below?.close();
  }
}

/** Whether lines may be redrawn: on a terminal without a screen reader. */
const isLive = ({ out }: Context): boolean =>
  out.isTerminal && out.format === 'table' && !usesScreenReader();

const headline = (agent: Agent): string =>
  [agent.name, agent.status, trustText(agent), agent.model].map(oneLine).join('  ');

type PrintedNote = Exclude<AgentNote, { type: 'delta' }>;

const print = ({ out }: Context, agent: Agent, note: PrintedNote): void => {
  if (note.type !== 'event') out.note(formatRemark(agent, note));
  else if (out.format === 'json') out.json(note.event);
  else if (out.format === 'id') out.line(String(note.event.id));
  else if (out.format === 'tsv') out.line(eventRow(note.event));
  else for (const line of eventLines(note.event, out.width)) out.line(line);
};

const formatRemark = (agent: Agent, note: Exclude<PrintedNote, { type: 'event' }>): string => {
  if (note.type === 'lost' || note.type === 'back') return connectionRemark(note);
  const session = `adjutant sessions messages ${agent.sessionId.slice(-6)}`;
  return (
    `-- events ${note.from} to ${note.to} were dropped from the buffer. Read the ` +
    `conversation: ${session} --`
  );
};

const printEnd = (context: Context, agent: Agent, more = ''): void => {
  if (agent.status !== 'completed') context.exitCode = Exit.failed;
  context.out.note(
    `-- ${agent.status}, ${formatCount(agent.steps, 'step')}, ${agentCost(agent)}${more} --`,
  );
};

const showEnded = (context: Context, agent: Agent): void => {
  const { out } = context;
  const result = agent.error ?? agent.result;
  if (out.format !== 'table') out.item(agent, agentTableColumns);
  else if (result) out.line(safe(result));
  printEnd(context, agent);
};

const WAIT_SECONDS = 25;

export const agentWait = command({
  name: 'wait',
  args: '[agent]',
  summary: 'Wait until an agent ends and show its result',
  examples: [
    'triage-415',
    '--execution 9qx1tb --timeout 60',
    'triage-415 --until-waiting',
    'triage-415 --json | jq -r .result',
  ],
  flags: {
    execution: textFlag('<id>', 'Id of the hook execution whose agent must end'),
    untilWaiting: switchFlag('Also exit when the agent waits for an approval or is paused'),
  },
  notes: [
    'Exit code 0: completed, or waiting with --until-waiting. 1: failed or stopped.',
    'Exit code 124: --timeout expired first. The agent continues to run.',
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
      throw interrupted(
        `The agent continues to run. Follow it: adjutant agents tail ${agent.id.slice(-6)}`,
      );
    }
  },
});

interface AgentWaitOptions {
  agent: Agent;
  untilWaiting?: boolean;
}

const ended = async (
  { out }: Context,
  client: Client,
  { agent: { id }, untilWaiting = false }: AgentWaitOptions,
): Promise<Agent> => {
  let { lastId: after } = await client.agents.events({ id, query: { limit: 1 } });
  let reportedStatus = '';
  for (;;) {
    const now = await client.agents.get({ id });
    if (isAgentOver(now)) return now;
    const isResting = now.status === 'paused' || now.status === 'waiting_approval';
    if (isResting && untilWaiting) return now;
    if (isResting && reportedStatus !== now.status)
      out.note(`${oneLine(now.name)} is ${now.status}. Still waiting.`);
    reportedStatus = now.status;
    const news = await client.agents.events({ id, query: { after, wait: WAIT_SECONDS } });
    after = Math.max(after, news.lastId);
  }
};

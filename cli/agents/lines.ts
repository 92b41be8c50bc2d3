import type { FollowedAgentEvent } from '../../src/client/follow.js';
import { valueAt } from '../columns.js';
import { cell, cutToWidth, oneLine, padded, plainText, safe, wrapped } from '../text.js';
import { duration, localTime } from '../times.js';

/** An event's name and text, as a line shows them. */
interface EventText {
  kind: string;
  text: string;
}

const NUMBER_WIDTH = 4;
const KIND_WIDTH = 8;
const NARROWEST = 20;

/** One event as lines: number, time, kind, and what it says; an answer may take several. */
export const eventLines = (event: FollowedAgentEvent, width: number): string[] => {
  const { kind, text } = said(event);
  const number = String(event.id).padStart(NUMBER_WIDTH);
  const head = `${number} ${localTime(event.at)}  ${padded(kind, KIND_WIDTH)}  `;
  if (event.type !== 'agent.message') return [cutToWidth(head + oneLine(text), width)];
  const indent = ' '.repeat(head.length);
  const room = Math.max(NARROWEST, width - head.length);
  const lines = safe(text)
    .split('\n')
    .flatMap((line) => wrapped(line, room));
  return lines.map((line, at) => ((at === 0 ? head : indent) + line).trimEnd());
};

/** One event as tab-separated values: number, time, type, what it says. */
export const eventRow = (event: FollowedAgentEvent): string =>
  [event.id, event.at, event.type, said(event).text].map(cell).join('\t');

const said = (event: FollowedAgentEvent): EventText => {
  const of = (path: string) => plainText(valueAt(event.data, path));
  if (event.type === 'agent.status') {
    const reason = of('error');
    const others = namesIn(valueAt(event.data, 'waitingFor'));
    if (others.length > 0) return { kind: 'status', text: `waits for ${others.join(', ')}` };
    return { kind: 'status', text: reason ? `${of('status')}: ${oneLine(reason)}` : of('status') };
  }
  if (event.type === 'agent.message') return { kind: 'message', text: of('content') };
  const phase = of('phase');
  if (phase === 'call') return { kind: 'call', text: `${of('tool')}  ${of('arguments')}` };
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

/** Names of the agents that another waits for. */
const namesIn = (waitingFor: unknown): string[] =>
  Array.isArray(waitingFor) ? waitingFor.map((agent) => plainText(valueAt(agent, 'name'))) : [];

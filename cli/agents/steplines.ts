import type { FollowedAgentEvent } from '../../src/client/follow.js';
import type { TextDelta } from '../../src/client/index.js';
import { type ReplyText, withDelta } from '../../src/client/replytext.js';
import type { Clock } from '../../src/kernel/clock.js';
import { valueAt } from '../columns.js';
import type { CliOutput } from '../output.js';
import { cutToWidth, padded, plainText, safe, wrapped } from '../text.js';

const TICK_MS = 1000;
/** Columns before the text: number, time and kind of the event. */
const TIME_WIDTH = 13;
const KIND_WIDTH = 8;
const GAP = '  ';
/** Maximum lines of a reply that is being generated. Only the last lines are shown. */
const MAX_LINES = 8;
const MIN_TEXT_WIDTH = 20;
const CLEAR_BELOW = '\u001b[J';

/**
 * Creates the lines below the events on a terminal: the reply as it is generated, and the elapsed
 * time of the step. They are redrawn in place and removed when an event is printed.
 */
export const openStepLines = (out: Pick<CliOutput, 'piece' | 'width'>, clock: Clock) => {
  let step: { at: number; doing: string } | null = null;
  let reply: ReplyText | null = null;
  let shown = 0;
  let isPaused = false;

  const clear = (): void => {
    if (shown === 0) return;
    const up = shown > 1 ? `\u001b[${shown - 1}A` : '';
    out.piece(`\r${up}${CLEAR_BELOW}`);
    shown = 0;
  };
  const draw = (): void => {
    if (!step || isPaused) return;
    clear();
    const { at, doing } = step;
    const ms = Math.max(0, clock.now() - at);
    const lines = renderCurrentStep({ ms, doing, reply }, out.width - 1);
    out.piece(lines.join('\n'));
    shown = lines.length;
  };
  const stop = clock.every(TICK_MS, draw);

  return {
    clear,
    /** The step is drawn at the next second. */
    after: (event: FollowedAgentEvent): void => {
      step = stepAfter(event);
      reply = null;
      isPaused = false;
    },
    grew: (delta: TextDelta): void => {
      reply = withDelta(reply, delta);
      isPaused = false;
      draw();
    },
    /** Hides the lines while the daemon is unreachable. */
    pause: (): void => {
      clear();
      isPaused = true;
    },
    close: (): void => {
      stop();
      clear();
    },
  };
};

const stepAfter = ({ type, at, data }: FollowedAgentEvent) => {
  const of = (path: string) => plainText(valueAt(data, path));
  const since = { at: Date.parse(at) };
  if (type === 'agent.status') {
    return of('status') === 'running' ? { ...since, doing: 'waiting for the model' } : null;
  }
  if (type === 'agent.message') return { ...since, doing: 'calling tools' };
  if (of('phase') === 'call') return { ...since, doing: `running ${of('tool')}` };
  return of('phase') === 'result' ? { ...since, doing: 'waiting for the model' } : null;
};

interface ShownStep {
  ms: number;
  doing: string;
  reply: ReplyText | null;
}

const renderCurrentStep = ({ ms, doing, reply }: ShownStep, width: number): string[] => {
  const time = formatElapsed(ms).padStart(TIME_WIDTH);
  const head = `${time}${GAP}${padded(reply ? 'writes' : 'now', KIND_WIDTH)}${GAP}`;
  if (!reply) return [cutToWidth(head + doing, width)];
  const indent = ' '.repeat(head.length);
  const room = Math.max(MIN_TEXT_WIDTH, width - head.length);
  const lines = safe(reply.text)
    .split('\n')
    .flatMap((line) => wrapped(line, room))
    .slice(-MAX_LINES);
  return lines.map((line, nth) => (nth === 0 ? head : indent) + line);
};

const formatElapsed = (ms: number): string => {
  const seconds = Math.floor(ms / TICK_MS);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

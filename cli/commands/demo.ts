import { command } from '../command.js';
import type { Context } from '../context.js';
import { type ProofStep, prove } from '../daemon/proof.js';
import { withScratchDaemon } from '../daemon/scratch.js';
import { failed, interrupted } from '../exit.js';
import { cutToWidth, oneLine, padded } from '../text.js';
import { duration } from '../times.js';

const DEADLINE_MS = 60_000;
const NAME_WIDTH = 10;
const TOOK_WIDTH = 7;
const LEAST_ROOM = 40;

export const demo = command({
  name: 'demo',
  summary: 'Prove the main job once, on a scratch home that is thrown away',
  examples: ['', '--json', '--quiet && echo it works'],
  notes: [
    'A signed GitHub delivery becomes an agent run and a notice; the same one again, nothing.',
  ],
  seeAlso: 'quickstart',
  run: async (context) => {
    const { signal, forget } = endOf(context);
    const began = performance.now();
    const steps: ProofStep[] = [];
    const tell = (step: ProofStep) => {
      steps.push(step);
      if (context.out.format !== 'json') show(context, step);
    };
    try {
      await withScratchDaemon(signal, (url) => proveAt(url, { signal, began, tell }));
    } catch (error) {
      throw signal.aborted ? endedBy(signal) : error;
    } finally {
      forget();
    }
    if (context.out.format === 'json') return context.out.json({ steps });
    const took = duration(performance.now() - began);
    context.out.line(`Proved in ${took}. The scratch home is gone.`);
  },
});

interface DemoRun {
  signal: AbortSignal;
  began: number;
  tell(step: ProofStep): void;
}

const proveAt = async (url: string, { signal, began, tell }: DemoRun): Promise<void> => {
  const { createClient } = await import('../../src/client/index.js');
  tell({ name: 'daemon', said: [`ready at ${url}`], tookMs: performance.now() - began });
  for await (const step of prove(createClient({ url, signal }))) tell(step);
};

/** ^C, SIGTERM or the deadline: whichever comes, the daemon and its home go first. */
const endOf = (context: Context) => {
  const term = new AbortController();
  const abort = () => term.abort();
  process.once('SIGTERM', abort);
  const signals = [context.signal, term.signal, AbortSignal.timeout(DEADLINE_MS)];
  return { signal: AbortSignal.any(signals), forget: () => process.off('SIGTERM', abort) };
};

const endedBy = ({ reason }: AbortSignal): Error =>
  reason instanceof Error && reason.name === 'TimeoutError'
    ? failed(`Not proved within ${DEADLINE_MS / 1000} s.`)
    : interrupted();

const show = ({ out }: Context, { name, said, tookMs }: ProofStep): void => {
  const head = `  ${padded(name, NAME_WIDTH)} ${duration(tookMs).padStart(TOOK_WIDTH)}  `;
  const room = out.isTerminal ? Math.max(LEAST_ROOM, out.width - head.length) : Infinity;
  for (const [at, line] of said.map(oneLine).entries()) {
    out.line((at === 0 ? head : ' '.repeat(head.length)) + cutToWidth(line, room));
  }
};

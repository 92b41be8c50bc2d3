import { command } from '../command.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { failed } from '../exit.js';
import { safe } from '../text.js';

/** The way back after an upgrade. `src/rollback.ts` is loaded only here. */
export const rollback = command({
  name: 'rollback',
  args: '[snapshot]',
  summary: 'Go back to the database as it was before an upgrade, with the daemon stopped',
  examples: ['', 'before-43', 'before-43 --yes'],
  notes: [
    'The newest snapshot unless one is named. What came after it is dropped: the deliveries are ' +
      'written to a file, one JSON object a line, and the newer database is kept in the home’s aside/.',
    'As after a restore nothing goes on by itself: agents are paused, hooks with a schedule off.',
  ],
  seeAlso: 'adjutant down, adjutant help upgrade',
  run: async (context, { args }) => {
    const { openRollback } = await import('../../src/rollback.js');
    const home = homeOf(context.flags.home);
    const open = orFailed(context, () => openRollback({ home }, args.snapshot));
    try {
      const { snapshot, since } = open;
      const at = new Date(snapshot.madeAtMs).toISOString();
      context.out.note(`${snapshot.name}, made ${at}: schema ${since.from} back to ${since.to}.`);
      context.out.note(`It drops ${counted(since.deliveries)} that came after it.`);
      await context.ask.confirm('Go back?');
      sayBack(context, orFailed(context, open.perform));
    } finally {
      open.close();
    }
  },
});

const counted = (deliveries: number): string =>
  deliveries === 1 ? '1 acknowledged delivery' : `${deliveries} acknowledged deliveries`;

const orFailed = <T>({ flags }: Context, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isExpected = /^(OpenRefused|BadSetting)$/.test(error.name) || 'code' in error;
    if (!isExpected) throw error;
    const home = flags.home ? ` --home ${flags.home}` : '';
    const next = error.message.startsWith('Another Adjutant')
      ? [`Stop it first: adjutant down${home}`]
      : [];
    throw failed(`Not rolled back: ${safe(error.message)}.`, ...next);
  }
};

interface RollbackReport {
  dropped: string | null;
  aside: string;
  agents: number;
  executions: number;
  schedules: number;
}

const sayBack = ({ out }: Context, back: RollbackReport): void => {
  if (out.format !== 'table') {
    out.json(back);
    return;
  }
  out.line('Back.');
  if (back.dropped !== null) out.note(`The dropped deliveries: ${back.dropped}`);
  out.note(`The newer database: ${back.aside}`);
  out.note(
    `Held back: ${back.agents} agents paused, ${back.executions} runs interrupted, ` +
      `${back.schedules} schedules off.`,
  );
  out.note('Now install the version that made it, then: adjutant up');
};

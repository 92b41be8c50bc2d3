import { type Clock, iso } from '../../kernel/clock.js';
import { markOf } from '../../providers/tunnels/child.js';
import type { Step } from '../../store/protocol.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';

/** What is set up, in the database and at hand. */
export interface Kept {
  read(): Promise<void>;
  row(): TunnelRow | null;
  /** With the steps in the same transaction. */
  replace(next: TunnelRow, also: Step[]): Promise<void>;
  /** False: nothing is set up. */
  turn(isOn: boolean, also: Step[]): Promise<boolean>;
  /** The process that runs on its behalf, for the next start to find; null: none. */
  keepProcess(pid: number | null): Promise<void>;
}

export const createKept = (store: Store, clock: Clock): Kept => {
  const { db } = store;
  let row: TunnelRow | null = null;
  const read = async (): Promise<void> => {
    row = (await db.selectFrom('tunnel').selectAll().executeTakeFirst()) ?? null;
  };
  return {
    read,
    row: () => row,
    replace: async (next, also) => {
      const { id: _, process: __, ...changes } = next;
      const insert = db.insertInto('tunnel').values({ ...next, process: null });
      const replaced = insert.onConflict((on) => on.column('id').doUpdateSet(changes));
      await store.transact([statement(replaced), ...also]);
      await read();
    },
    turn: async (isOn, also) => {
      const changes = { is_on: isOn ? 1 : 0, updated_at: iso(clock.now()) };
      const change = statement(db.updateTable('tunnel').set(changes), 1);
      const isDone = await unlessUnmet(store.transact([change, ...also]));
      if (isDone) await read();
      return isDone;
    },
    keepProcess: async (pid) => {
      const mark = pid === null ? null : await markOf(pid);
      const process = mark && JSON.stringify(mark);
      await db.updateTable('tunnel').set({ process }).execute();
    },
  };
};

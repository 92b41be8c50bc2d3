import type { Store } from '../../store/store.js';
import type { PipelineRunRow } from '../../store/tables/pipelines.js';
import type { RunStage } from './run.js';

/** True if an earlier call was interrupted and may have taken effect. */
export type IsInDoubt = (of: RunStage) => Promise<boolean>;

type PlaceOfRun = Pick<PipelineRunRow, 'id' | 'parent_id' | 'parent_key' | 'item'>;

export const IN_DOUBT_QUESTION =
  'The run was stopped during this call, which may already have taken effect. Approve to repeat the call.';

/** Checks the run and the earlier runs that it replaces. */
export const createInDoubtCheck = ({ db }: Pick<Store, 'db'>): IsInDoubt => {
  const runs = () =>
    db.selectFrom('pipeline_runs').select(['id', 'parent_id', 'parent_key', 'item']);

  const inPlaceOf = async (run: PlaceOfRun): Promise<string[]> => {
    const { parent_id, parent_key, item } = run;
    if (parent_id === null) return [run.id];
    const parent = await runs().where('id', '=', parent_id).executeTakeFirst();
    const parents = parent ? await inPlaceOf(parent) : [parent_id];
    const all = runs().where('parent_id', 'in', parents).where('parent_key', '=', parent_key);
    const found = await all.where('item', 'is', item).execute();
    return found.map(({ id }) => id);
  };

  return async ({ run, row }) => {
    if (row.effect === 'begun') return true;
    if (run.row.parent_id === null) return false;
    const cutOff = db
      .selectFrom('pipeline_stages')
      .select('run_id')
      .where('run_id', 'in', await inPlaceOf(run.row))
      .where('key', '=', row.key)
      .where('status', 'in', ['stopped', 'failed'])
      .where('effect', '=', 'begun');
    return (await cutOff.executeTakeFirst()) !== undefined;
  };
};

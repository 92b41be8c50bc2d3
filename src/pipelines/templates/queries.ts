import { type Compilable, isCommitted, type Store, statement } from '../../store/store.js';
import { type PipelineTemplateRow, pipelineTemplateTable } from '../../store/tables/pipelines.js';
import { visibleTo } from '../../store/visible.js';

export const MAX_TEMPLATES = 1000;

/** Writes throw `UniqueViolation` if the user already has a template with this name. */
export const templatesStore = ({ db, transact }: Store) => {
  const isWritten = (query: Compilable) => isCommitted(transact([statement(query, 1)]));
  const { columns } = pipelineTemplateTable;
  const own = (userId: string) =>
    db.selectFrom('pipeline_templates').select(columns).where(visibleTo(userId));
  return {
    /** Newest first. `before` is the ID of the last template on the previous page. */
    list: (userId: string, most: number, before?: string): Promise<PipelineTemplateRow[]> => {
      const older = before === undefined ? own(userId) : own(userId).where('id', '<', before);
      return older.orderBy('id', 'desc').limit(most).execute();
    },

    get: (userId: string, id: string): Promise<PipelineTemplateRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    named: (userId: string, name: string): Promise<PipelineTemplateRow | undefined> =>
      own(userId).where('name', '=', name).executeTakeFirst(),

    /** Returns false if the user has reached the limit. */
    insert: (row: PipelineTemplateRow): Promise<boolean> => {
      const count = db
        .selectFrom('pipeline_templates')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(visibleTo(row.user_id));
      const values = db
        .selectNoFrom((of) => columns.map((column) => of.val(row[column]).as(column)))
        .where(count, '<', MAX_TEMPLATES);
      return isWritten(db.insertInto('pipeline_templates').columns(columns).expression(values));
    },

    /** Returns false if the template has changed since it was read. */
    update: (
      { user_id, id, version }: PipelineTemplateRow,
      change: Partial<PipelineTemplateRow>,
    ): Promise<boolean> =>
      isWritten(
        db
          .updateTable('pipeline_templates')
          .set(change)
          .where(visibleTo(user_id))
          .where('id', '=', id)
          .where('version', '=', version),
      ),

    delete: (userId: string, id: string): Promise<boolean> =>
      isWritten(db.deleteFrom('pipeline_templates').where(visibleTo(userId)).where('id', '=', id)),
  };
};

export type TemplatesStore = ReturnType<typeof templatesStore>;

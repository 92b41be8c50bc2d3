import { type Compilable, type Store, statement, unlessUnmet } from '../../store/store.js';
import { type PipelineTemplateRow, pipelineTemplateTable } from '../../store/tables/pipelines.js';
import { visibleTo } from '../../store/visible.js';

/** Ours: the number of templates that a user may have. */
export const MAX_TEMPLATES = 1000;

/**
 * Returns the queries for the templates of a user. A write throws `Taken` if the user has a template
 * of that name already.
 */
export const templatesStore = ({ db, transact }: Store) => {
  const isWritten = (query: Compilable) => unlessUnmet(transact([statement(query, 1)]));
  const { columns } = pipelineTemplateTable;
  const own = (userId: string) =>
    db.selectFrom('pipeline_templates').select(columns).where(visibleTo(userId));
  return {
    /** Returns templates, newest first; `before` is the id of the last one of the page before. */
    list: (userId: string, most: number, before?: string): Promise<PipelineTemplateRow[]> => {
      const older = before === undefined ? own(userId) : own(userId).where('id', '<', before);
      return older.orderBy('id', 'desc').limit(most).execute();
    },

    get: (userId: string, id: string): Promise<PipelineTemplateRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    named: (userId: string, name: string): Promise<PipelineTemplateRow | undefined> =>
      own(userId).where('name', '=', name).executeTakeFirst(),

    /** Returns false if the user has as many templates as there may be. */
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

    /** Returns false if the template is not as it was read. */
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

    /** Returns false if the user has no such template. */
    delete: (userId: string, id: string): Promise<boolean> =>
      isWritten(db.deleteFrom('pipeline_templates').where(visibleTo(userId)).where('id', '=', id)),
  };
};

export type TemplatesStore = ReturnType<typeof templatesStore>;

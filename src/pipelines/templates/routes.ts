import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { cutPage, DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import { mint } from '../../kernel/ids.js';
import type { FieldFault } from '../../kernel/problem.js';
import { orNotFound, resource, throwIfFaults } from '../../kernel/route.js';
import { UniqueViolation } from '../../store/engine/protocol.js';
import { type PipelineTemplateRow, pipelineTemplateTable } from '../../store/tables/pipelines.js';
import { viewer } from '../../store/view.js';
import { type KnownNames, templateFaults } from './check.js';
import { type NewTemplate, PipelineTemplate, templates } from './contract.js';
import { formatMermaid } from './graph.js';
import {
  expertFaults,
  type FindTemplate,
  type Nesting,
  nestedTemplates,
} from './nestedtemplates.js';
import { normalizeTemplate, type TemplateBody } from './normalize.js';
import { PRESETS } from './presets.js';
import { MAX_TEMPLATES, type TemplatesStore } from './queries.js';
import { parseTemplateText, validateTemplateText } from './text.js';
import { findAddedTools, toolsGrantedBy } from './trust.js';
import { formatTemplateYaml } from './yaml.js';

export interface TemplatesDeps {
  templates: TemplatesStore;
  clock: Clock;
  known(userId: string): KnownNames;
  hasExpert(userId: string, id: string): Promise<boolean>;
  refuseGrants(by: Caller, tools: string[]): void;
}

const view = viewer(pipelineTemplateTable, PipelineTemplate, { preset: () => false });

export const findTemplate = async (
  store: TemplatesStore,
  userId: string,
  id: string,
): Promise<PipelineTemplate | null> => {
  const preset = PRESETS.find((each) => each.id === id);
  if (preset) return preset;
  const row = await store.get(userId, id);
  return row ? view(row) : null;
};

export const templatesResource = (deps: TemplatesDeps) => {
  const { templates: store, clock, known } = deps;

  const own = async (userId: string, id: string): Promise<PipelineTemplateRow> => {
    refusePreset(id);
    return orNotFound(await store.get(userId, id), 'No template with that id');
  };

  const find = async (userId: string, id: string): Promise<PipelineTemplate> =>
    orNotFound(await findTemplate(store, userId, id), 'No template with that id');

  const named = async (name: string, userId: string): Promise<PipelineTemplate[]> => {
    const row = await store.named(userId, name);
    return [...(row ? [view(row)] : []), ...PRESETS.filter((preset) => preset.name === name)];
  };

  const findIn: FindTemplate = (userId, id) => findTemplate(store, userId, id);
  const referencesOf =
    ({ userId }: Caller, areStagesNew = true) =>
    async (template: Nesting): Promise<FieldFault[]> => [
      ...(await nestedTemplates(template, userId, findIn)).faults,
      ...(areStagesNew
        ? await expertFaults(template.stages, (id) => deps.hasExpert(userId, id))
        : []),
    ];

  const refuseTemplate = async (
    input: NewTemplate & Nesting,
    by: Caller,
    areStagesNew = true,
  ): Promise<void> => {
    const references = await referencesOf(by, areStagesNew)(input);
    throwIfFaults([...templateFaults(input, known(by.userId)), ...references]);
  };

  const create = async (body: TemplateBody, by: Caller): Promise<PipelineTemplate> => {
    deps.refuseGrants(by, toolsGrantedBy(body.stages));
    const now = clock.now();
    const times = { created_at: iso(now), updated_at: iso(now) };
    const row: PipelineTemplateRow = {
      ...toTemplateColumns(body),
      ...times,
      id: mint('template', now),
      user_id: by.userId,
      version: 1,
    };
    if (await orTaken(store.insert(row), body.name)) return view(row);
    throw Boom.conflict(
      `You already have ${MAX_TEMPLATES} templates, which is the maximum. Delete a template first`,
      {
        code: 'too_many',
      },
    );
  };

  return resource('templates', templates, {
    // The cursor is the ID of the last template on the previous page.
    list: async ({ query: { limit = DEFAULT_LIMIT, cursor, preset, name } }, { userId }) => {
      if (name !== undefined) return { templates: await named(name, userId), nextCursor: null };
      const last = PRESETS.findIndex(({ id }) => id === cursor);
      const hasOwn = preset !== true && last < 0;
      const rows = hasOwn ? await store.list(userId, limit + 1, cursor) : [];
      const shipped = preset === false ? [] : PRESETS.slice(last + 1);
      const page = cutPage([...rows.map(view), ...shipped], limit);
      return { templates: page.rows, nextCursor: page.nextCursor };
    },
    create: async ({ body }, by) => {
      await refuseTemplate({ ...body, id: null }, by);
      return create(normalizeTemplate(body), by);
    },
    get: async ({ id, query: { format } }, { userId }) => {
      const template = await find(userId, id);
      return format === 'yaml' ? formatTemplateYaml(template) : template;
    },
    update: async ({ id, body: { version, ...changes } }, by) => {
      const row = await own(by.userId, id);
      const { name, description, parameters, stages, limits, onFinish } = view(row);
      const before = { name, description, parameters, stages, limits, onFinish };
      const input = {
        ...before,
        ...changes,
        ...(changes.limits && { limits: { ...limits, ...changes.limits } }),
      };
      // Others can be changed although the expert of a stage was deleted.
      await refuseTemplate({ ...input, id }, by, changes.stages !== undefined);
      const next = normalizeTemplate(input);
      deps.refuseGrants(by, findAddedTools(before, next));
      const change = {
        ...toTemplateColumns(next),
        version: row.version + 1,
        updated_at: iso(clock.now()),
      };
      const isRead = version === undefined || version === row.version;
      if (!isRead || !(await orTaken(store.update(row, change), next.name))) throw changed();
      return view({ ...row, ...change });
    },
    delete: async ({ id }, { userId }) => {
      refusePreset(id);
      if (!(await store.delete(userId, id))) throw Boom.notFound('No template with that id');
    },
    graph: async ({ id }, { userId }) => formatMermaid((await find(userId, id)).stages),
    validate: async ({ raw }, by) => validateTemplateText(raw, known(by.userId), referencesOf(by)),
    import: async ({ raw }, by) =>
      create(
        normalizeTemplate(await parseTemplateText(raw, known(by.userId), referencesOf(by))),
        by,
      ),
  });
};

const toTemplateColumns = (body: TemplateBody): TemplateColumns => ({
  name: body.name,
  description: body.description,
  parameters: JSON.stringify(body.parameters),
  stages: JSON.stringify(body.stages),
  limits: JSON.stringify(body.limits),
  on_finish: JSON.stringify(body.onFinish),
});

type TemplateColumns = Omit<
  PipelineTemplateRow,
  'id' | 'user_id' | 'version' | 'created_at' | 'updated_at'
>;

const refusePreset = (id: string): void => {
  if (!PRESETS.some((preset) => preset.id === id)) return;
  const message = `The template ${id} ships with Adjutant and cannot be changed. Create a copy instead`;
  throw Boom.conflict(message, { code: 'preset' });
};

const changed = (): Boom.Boom =>
  Boom.conflict('The template was changed by another request. Get the template again and retry', {
    code: 'changed',
  });

const orTaken = async (write: Promise<boolean>, name: string): Promise<boolean> => {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw Boom.conflict(`A template named ${name} already exists. Choose another name`, {
      code: 'name_taken',
    });
  }
};

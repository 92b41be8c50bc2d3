import Joi from 'joi';
import { Condition } from '../../kernel/contract/condition.js';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

/** The longest time that a stage may wait for a person or for its time, in seconds: 90 days. */
export const MAX_WAIT = 90 * 86_400;
/** Ours: the most bytes of a template as YAML or JSON. */
const TEMPLATE_BYTES = 256 * 1024;

const stageKind = () =>
  s.oneOf(
    'StageKind',
    ...(['agent', 'tool', 'http', 'approval', 'input', 'foreach', 'pipeline', 'wait'] as const),
    'research',
  );
const key = () =>
  Joi.string<string>()
    .max(40)
    .pattern(/^[a-z][a-z0-9_-]*$/, 'lower-case letters, digits, "_" and "-", a letter first')
    .example('summary');

export const TemplateParameter = s.object('TemplateParameter', {
  key: key(),
  type: s
    .oneOf('ParameterType', 'string', 'number', 'boolean', 'choice', 'text', 'document')
    .description('text: of several lines; document: the id of one of your documents'),
  required: s.optional(s.flag()),
  default: s.optional(s.json()),
  options: s.optional(s.list(s.text(200), 100).description('Of a choice')),
  description: s.optional(s.anyText(500)),
});

export type TemplateParameter = s.Static<typeof TemplateParameter>;

const StageRetry = s.object('StageRetry', {
  attempts: s.whole(1, 10).description('All attempts together, with the first'),
  backoffSeconds: s.optional(s.amount(0, 3600).description('Before the second attempt; 5')),
  factor: s.optional(s.amount(1, 10).description('By which each further wait is longer; 2')),
});

const StageGoto = s.object('StageGoto', {
  goto: key().description('This stage, or one that it needs, from which the run goes on anew'),
});

/** The work of a stage, without its place in the graph. */
const work = {
  kind: stageKind(),
  config: s.record('StageConfig').description('By the kind; see docs/pipelines.md'),
  retry: s.optional(StageRetry),
  timeoutSeconds: s.optional(s.whole(1, MAX_WAIT)),
  output: s.optional(s.record('OutputSchema').description('The JSON Schema of its output')),
  allowUntrusted: s.optional(
    s.flag().description('It acts without asking, also on what came from outside'),
  ),
};

/** The work of each item of a stage `foreach`. */
export const ItemStage = s.object('ItemStage', work);

export const TemplateStage = s.object('TemplateStage', {
  key: key(),
  name: s.optional(s.text(200)),
  ...work,
  needs: s.optional(s.list(key(), 100).description('The stages that end before it begins')),
  when: s.optional(
    s.list(Condition, 50).description('Conditions that all must hold; else skipped'),
  ),
  runIf: s.optional(
    s.oneOf('StageRunIf', 'success', 'failure', 'always').description('Over its needs; success'),
  ),
  onError: s.optional(
    s.textOr('StageOnError', s.oneOf('StageErrorRule', 'fail', 'continue'), StageGoto),
  ),
  maxVisits: s.optional(s.whole(1, 20).description('How often `goto` may lead to it; 3')),
});
export type TemplateStage = s.Static<typeof TemplateStage>;

const limits = {
  maxSeconds: s.whole(1, 30 * 86_400).description('While it runs, not while it waits'),
  maxTokens: s.whole(1, 1_000_000_000),
  maxCostUsd: s.amount(0, 10_000),
};
const RunLimits = s.object('RunLimits', limits);

const own = {
  name: s.text(200).pattern(/\S/, 'some text').example('Release notes'),
  description: s.optional(s.nullable(s.anyText(2000))),
  parameters: s.optional(s.list(TemplateParameter, 50)),
  stages: s.list(TemplateStage, 100),
  limits: s.optional(s.allOptional('GivenRunLimits', RunLimits)),
  onFinish: s.optional(
    s.object('GivenOnFinish', {
      notifyOwner: s.optional(s.flag().description('Tell the owner when a run ends; true')),
    }),
  ),
};

export const NewTemplate = s.object('NewTemplate', own);
export type NewTemplate = s.Static<typeof NewTemplate>;

const TemplateChanges = s.ignoring(
  s
    .object('TemplateChanges', {
      ...own,
      name: s.optional(own.name),
      stages: s.optional(own.stages),
      version: s.optional(
        s.whole(1, 1_000_000_000).description('409 if it has been changed since this one'),
      ),
    })
    .min(1),
  ...['id', 'preset', 'createdAt', 'updatedAt'],
);

/** The part of a template that a person writes, with what was left out filled in. */
const written = {
  name: s.text(200),
  description: s.nullable(s.anyText(2000)),
  parameters: s.list(TemplateParameter),
  stages: s.list(TemplateStage),
  limits: RunLimits,
  onFinish: s.object('OnFinish', { notifyOwner: s.flag() }),
};

export const PipelineTemplate = s.object('PipelineTemplate', {
  id: s.id('template'),
  ...written,
  preset: s.flag().description('True: ships with Adjutant, and cannot be changed'),
  version: s.whole(1, 1_000_000_000).description('Counts the changes; a run keeps its version'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type PipelineTemplate = s.Static<typeof PipelineTemplate>;

export const TemplateCheck = s.object('TemplateCheck', {
  valid: s.flag(),
  problems: s.list(
    s.object('TemplateProblem', {
      path: s.anyText(500).example('stages.2.needs.0'),
      message: s.text(1000),
      line: s.optional(s.whole(1, 1_000_000).description('In the YAML, from 1')),
    }),
  ),
  template: s
    .nullable(s.object('CheckedTemplate', written))
    .description('It, with what it leaves out filled in; null unless it is valid'),
});
export type TemplateCheck = s.Static<typeof TemplateCheck>;

/** An example as JSON, which is a part of YAML. */
const imported = {
  name: 'The time',
  stages: [{ key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } }],
};

export const templates = contract({
  list: endpoint.get('/api/pipelines/templates', {
    summary: 'List templates of pipelines: your own, the newest first, then those that ship',
    query: pageQuery('TemplateQuery', {
      preset: s.optional(s.queryFlag()),
      name: s.optional(s.text(200).description('The one with exactly this name')),
    }),
    reply: pageOf('templates', PipelineTemplate),
  }),
  create: endpoint.post('/api/pipelines/templates', {
    summary: 'Create a template of a pipeline',
    example: {
      name: 'Release notes',
      parameters: [{ key: 'changes', type: 'text', required: true }],
      stages: [
        {
          key: 'draft',
          kind: 'agent',
          config: { prompt: 'Write release notes from these changes:\n{{params.changes}}' },
        },
        {
          key: 'approve',
          kind: 'approval',
          needs: ['draft'],
          config: { message: 'Publish this?\n{{stages.draft.output}}' },
        },
      ],
    },
    body: NewTemplate,
    reply: PipelineTemplate,
    status: 201,
  }),
  get: endpoint.get('/api/pipelines/templates/{id}', {
    summary: 'Show a template, as JSON or with `format=yaml` as YAML',
    query: s.object('TemplateFormat', {
      format: s.optional(s.oneOf('TemplateFormatName', 'json', 'yaml')),
    }),
    reply: PipelineTemplate,
    textAs: 'application/yaml',
  }),
  update: endpoint.put('/api/pipelines/templates/{id}', {
    summary: 'Change what is given, keep the rest; runs keep the version they began with',
    example: { description: 'Asks before anything is published' },
    body: TemplateChanges,
    reply: PipelineTemplate,
  }),
  delete: endpoint.delete('/api/pipelines/templates/{id}', {
    summary: 'Delete a template; its runs stay',
  }),
  graph: endpoint.get('/api/pipelines/templates/{id}/graph', {
    summary: 'Show the graph of its stages as Mermaid text',
    produces: 'text/plain',
    reply: s.text(200_000),
  }),
  validate: endpoint.post('/api/pipelines/templates/validate', {
    summary: 'Check a template in YAML or JSON; nothing is kept',
    rawBytes: TEMPLATE_BYTES,
    example: imported,
    readsOnly: true,
    reply: TemplateCheck,
  }),
  import: endpoint.post('/api/pipelines/templates/import', {
    summary: 'Create a template from YAML (application/yaml)',
    rawBytes: TEMPLATE_BYTES,
    example: imported,
    reply: PipelineTemplate,
    status: 201,
  }),
});

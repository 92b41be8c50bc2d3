import Joi from 'joi';
import { Condition } from '../../kernel/contract/condition.js';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

/** Maximum wait of a stage, in seconds: 90 days. */
export const MAX_WAIT_SECONDS = 90 * 86_400;
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
    .pattern(/^[a-z][a-z0-9_-]*$/, 'lowercase letters, digits, "_" and "-", starting with a letter')
    .example('summary');

export const TemplateParameter = s.object('TemplateParameter', {
  key: key(),
  type: s
    .oneOf('ParameterType', 'string', 'number', 'boolean', 'choice', 'text', 'document')
    .description('Type of the value. `text` has several lines. `document` is the ID of a document'),
  required: s.optional(s.boolean()),
  default: s.optional(s.json()),
  options: s.optional(s.list(s.text(200), 100).description('Allowed values of a `choice`')),
  description: s.optional(s.anyText(500)),
});

export type TemplateParameter = s.Static<typeof TemplateParameter>;

const StageRetry = s.object('StageRetry', {
  attempts: s.integer(1, 10).description('Maximum number of attempts, including the first'),
  backoffSeconds: s.optional(
    s.number(0, 3600).description('Delay before the second attempt, in seconds. Defaults to 5'),
  ),
  factor: s.optional(
    s.number(1, 10).description('Multiplier for each further delay. Defaults to 2'),
  ),
});

const StageGoto = s.object('StageGoto', {
  goto: key().description(
    'Key of the stage from which the run repeats: this stage or a stage that this stage needs',
  ),
});

const stageFields = {
  kind: stageKind(),
  config: s
    .record('StageConfig')
    .description('Configuration, depending on `kind`. See docs/pipelines.md'),
  retry: s.optional(StageRetry),
  timeoutSeconds: s.optional(
    s
      .integer(1, MAX_WAIT_SECONDS)
      .description(
        'Time after which the stage fails, in seconds. Defaults to 604800 (7 days) for approvals and inputs. Other stages have no time limit by default',
      ),
  ),
  output: s.optional(
    s.record('OutputSchema').description('JSON Schema that the output must match'),
  ),
  allowUntrusted: s.optional(
    s
      .boolean()
      .description(
        'Whether the stage runs without approval even if the input comes from outside, such as a webhook payload',
      ),
  ),
};

/** The stage that a `foreach` runs for each item. */
export const ItemStage = s.object('ItemStage', stageFields);

export const TemplateStage = s.object('TemplateStage', {
  key: key(),
  name: s.optional(s.text(200)),
  ...stageFields,
  needs: s.optional(s.list(key(), 100).description('Keys of the stages that must end first')),
  when: s.optional(
    s
      .list(Condition, 50)
      .description('Conditions that must all hold. Otherwise the stage is skipped'),
  ),
  runIf: s.optional(
    s
      .oneOf('StageRunIf', 'success', 'failure', 'always')
      .description(
        'Required result of the stages in `needs`. `success`: no stage failed. `failure`: a stage failed, or was skipped because of a failure. `always`: any result. Defaults to `success`',
      ),
  ),
  onError: s.optional(
    s.textOr('StageOnError', s.oneOf('StageErrorRule', 'fail', 'continue'), StageGoto),
  ),
  maxVisits: s.optional(
    s
      .integer(1, 20)
      .description(
        'Number of runs of this stage after which a failure no longer jumps to the stage in `goto`. Defaults to 3. Requires `onError: { goto }`',
      ),
  ),
});
export type TemplateStage = s.Static<typeof TemplateStage>;

const limits = {
  maxSeconds: s
    .integer(1, 30 * 86_400)
    .description('Maximum running time, in seconds. Waiting time does not count'),
  maxTokens: s.integer(1, 1_000_000_000),
  maxCostUsd: s.number(0, 10_000),
};
const RunLimits = s.object('RunLimits', limits);

const editable = {
  name: s.text(200).pattern(/\S/, 'non-blank text').example('Release notes'),
  description: s.optional(
    s.nullable(s.anyText(2000)).description('Description of the template. `null` if there is none'),
  ),
  parameters: s.optional(s.list(TemplateParameter, 50)),
  stages: s.list(TemplateStage, 100),
  limits: s.optional(s.allOptional('GivenRunLimits', RunLimits)),
  onFinish: s.optional(
    s.object('GivenOnFinish', {
      notifyOwner: s.optional(
        s
          .boolean()
          .description(
            'Whether to notify the owner when a run completes or fails. Defaults to `true`',
          ),
      ),
    }),
  ),
};

export const NewTemplate = s.object('NewTemplate', editable);
export type NewTemplate = s.Static<typeof NewTemplate>;

const TemplateChanges = s.ignoreReadOnly(
  s
    .object('TemplateChanges', {
      ...editable,
      name: s.optional(editable.name),
      stages: s.optional(editable.stages),
      version: s.optional(
        s
          .integer(1, 1_000_000_000)
          .description(
            'Version that the change is based on. The reply is 409 if the template has a newer version',
          ),
      ),
    })
    .min(1),
  ...['id', 'orgId', 'preset', 'createdAt', 'updatedAt'],
);

/** The editable part of a template, with defaults filled in. */
const complete = {
  name: s.text(200),
  description: s
    .nullable(s.anyText(2000))
    .description('Description of the template. `null` if there is none'),
  parameters: s.list(TemplateParameter),
  stages: s.list(TemplateStage),
  limits: RunLimits,
  onFinish: s.object('OnFinish', { notifyOwner: s.boolean() }),
};

export const PipelineTemplate = s.object('PipelineTemplate', {
  id: s.id('template'),
  orgId: s.orgId(),
  ...complete,
  preset: s
    .boolean()
    .description('Whether the template ships with Adjutant. Such a template cannot be changed'),
  version: s
    .integer(1, 1_000_000_000)
    .description(
      'Version of the template, increased by each change. A run keeps the version of its start',
    ),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type PipelineTemplate = s.Static<typeof PipelineTemplate>;

export const TemplateCheck = s.object('TemplateCheck', {
  valid: s.boolean(),
  problems: s.list(
    s.object('TemplateProblem', {
      path: s.anyText(500).description('Path of the invalid value').example('stages.2.needs.0'),
      message: s.text(1000),
      line: s.optional(s.integer(1, 1_000_000).description('Line in the YAML, from 1')),
    }),
  ),
  template: s
    .nullable(s.object('CheckedTemplate', complete))
    .description('Template with all default values. `null` if the template is invalid'),
});
export type TemplateCheck = s.Static<typeof TemplateCheck>;

const imported = {
  name: 'The time',
  stages: [{ key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } }],
};

export const templates = contract({
  list: endpoint.get('/api/pipelines/templates', {
    shared: 'member',
    summary: 'List pipeline templates',
    query: pageQuery('TemplateQuery', {
      preset: s.optional(s.queryFlag()),
      name: s.optional(s.text(200).description('Exact name of the template')),
    }),
    reply: createPageSchema('templates', PipelineTemplate),
  }),
  create: endpoint.post('/api/pipelines/templates', {
    shared: 'admin',
    summary: 'Create a pipeline template',
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
    shared: 'member',
    summary: 'Get a pipeline template',
    query: s.object('TemplateFormat', {
      format: s.optional(s.oneOf('TemplateFormatName', 'json', 'yaml')),
    }),
    reply: PipelineTemplate,
    textAs: 'application/yaml',
  }),
  update: endpoint.put('/api/pipelines/templates/{id}', {
    shared: 'admin',
    summary: 'Update a pipeline template',
    description: 'Omitted fields keep their values.',
    example: { description: 'Asks before anything is published' },
    body: TemplateChanges,
    reply: PipelineTemplate,
  }),
  delete: endpoint.delete('/api/pipelines/templates/{id}', {
    shared: 'admin',
    summary: 'Delete a pipeline template',
    description: 'Runs of the template are kept, and open runs continue.',
  }),
  graph: endpoint.get('/api/pipelines/templates/{id}/graph', {
    shared: 'member',
    summary: 'Get the graph of a pipeline template',
    produces: 'text/plain',
    reply: s.text(200_000),
  }),
  validate: endpoint.post('/api/pipelines/templates/validate', {
    shared: 'member',
    summary: 'Validate a pipeline template',
    rawBytes: TEMPLATE_BYTES,
    example: imported,
    readsOnly: true,
    reply: TemplateCheck,
  }),
  import: endpoint.post('/api/pipelines/templates/import', {
    shared: 'admin',
    summary: 'Import a pipeline template from YAML',
    rawBytes: TEMPLATE_BYTES,
    example: imported,
    reply: PipelineTemplate,
    status: 201,
  }),
});

import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const runStatus = () =>
  s.oneOf('RunStatus', 'queued', 'running', 'waiting', 'completed', 'failed', 'stopped');

const big = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const RunStageView = s.object('RunStage', {
  key: s.text(40),
  name: s.text(200),
  kind: s.text(20),
  needs: s.list(s.text(40), 100).description('Keys of the stages that must end first'),
  status: s.oneOf(
    'RunStageStatus',
    ...(['pending', 'running', 'waiting_approval', 'waiting_input'] as const),
    ...(['completed', 'failed', 'skipped', 'stopped'] as const),
  ),
  reason: s
    .nullable(s.anyText(2000))
    .description('Reason why the stage was skipped, waits or is repeated. `null` otherwise'),
  attempt: s.integer(1, 1000).description('Number of the current attempt, from 1'),
  visits: s
    .integer(1, 1_000_000_000)
    .description(
      'Number of the current visit, from 1. A repetition or retry from this or an earlier stage starts a new visit',
    ),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that the stage spawned. `null` if there is none'),
  operationId: s
    .nullable(s.id('operation'))
    .description('ID of the operation that the stage started. `null` if there is none'),
  digest: s
    .nullable(s.text(64))
    .description(
      'SHA-256 of the pending question. The answer must contain this digest. `null` if no answer is pending',
    ),
  input: s.json().description('Input of the stage, or the pending question'),
  output: s
    .json()
    .description(
      'Output of the stage. Numbers that a double cannot represent are strings of their digits',
    ),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  untrusted: s
    .boolean()
    .description(
      'Whether the stage contains data from outside, such as a web page or a webhook payload',
    ),
  dueAt: s
    .nullable(s.time())
    .description(
      'Time at which the stage expires, stops waiting, retries or times out. `null` without such a time',
    ),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started yet'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});

const run = {
  id: s.id('pipeline'),
  orgId: s.orgId(),
  parentId: s
    .nullable(s.id('pipeline'))
    .description('ID of the parent run. `null` if no stage of another run started this run'),
  parentKey: s
    .nullable(s.text(40))
    .description('Key of the stage in the parent run. `null` if there is no parent run'),
  itemAt: s
    .nullable(s.integer(0, 999))
    .description(
      'Index of the item in the list of a `foreach` stage, from 0. `null` if a `foreach` stage did not start the run',
    ),
  templateId: s.text(80),
  templateVersion: s.integer(1, 1_000_000_000),
  name: s.text(200),
  params: s.record('RunParams'),
  status: runStatus(),
  untrusted: s
    .boolean()
    .description('Whether input from outside, such as a webhook payload, started the run'),
  usage: s.object('RunUsage', { tokens: big(), costUsd: s.number(0, Number.MAX_SAFE_INTEGER) }),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started yet'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const PipelineRun = s.object('PipelineRun', run);
export type PipelineRun = s.Static<typeof PipelineRun>;
export const PipelineRunDetail = s.object('PipelineRunDetail', {
  ...run,
  stages: s.list(RunStageView, 100),
});
export type PipelineRunDetail = s.Static<typeof PipelineRunDetail>;

const digest = () =>
  s
    .text(64)
    .description('`digest` of the stage, as shown with the question. Another value is rejected');
const Answer = s.object('StageAnswer', {
  digest: digest(),
  reason: s.optional(s.reason(2000)),
});

export const pipelines = contract({
  list: endpoint.get('/api/pipelines', {
    shared: 'member',
    summary: 'List pipeline runs',
    query: pageQuery('RunQuery', {
      status: s.optional(runStatus()),
      templateId: s.optional(s.text(80)),
      parentId: s.optional(
        s
          .text(80)
          .description('ID of the parent run. If omitted, only runs without a parent are listed'),
      ),
      since: s.optional(s.moment().description('Earliest start time')),
    }),
    reply: createPageSchema('pipelines', PipelineRun),
  }),
  start: endpoint.post('/api/pipelines', {
    shared: 'member',
    sharedBy: 'templateId',
    summary: 'Start a pipeline run',
    example: { templateId: 'preset_release_notes', params: { version: '2.1', changes: 'Faster' } },
    body: s.object('NewRun', {
      templateId: s.text(80),
      params: s.optional(s.record('GivenParams')),
      name: s.optional(s.text(200).pattern(/\S/, 'non-blank text')),
    }),
    reply: PipelineRunDetail,
    status: 201,
  }),
  get: endpoint.get('/api/pipelines/{id}', {
    shared: 'member',
    summary: 'Get a pipeline run',
    reply: PipelineRunDetail,
  }),
  stop: endpoint.post('/api/pipelines/{id}/stop', {
    shared: 'admin',
    summary: 'Stop a pipeline run',
    reply: PipelineRunDetail,
  }),
  retry: endpoint.post('/api/pipelines/{id}/retry', {
    shared: 'admin',
    summary: 'Retry a pipeline run',
    example: { fromStage: 'draft' },
    body: s.object('RunRetry', {
      fromStage: s.optional(
        s
          .text(40)
          .description(
            'Key of the stage to retry from. If omitted, failed and stopped stages are retried. Stages that need a retried stage run again as well',
          ),
      ),
    }),
    reply: PipelineRunDetail,
  }),
  approve: endpoint.post('/api/pipelines/{id}/stages/{key}/approve', {
    shared: 'admin',
    summary: 'Approve a pipeline stage that waits for approval',
    audit: 'pipelines.approve',
    unimpersonated: true,
    example: { digest: '0'.repeat(64) },
    body: Answer,
    reply: PipelineRunDetail,
  }),
  reject: endpoint.post('/api/pipelines/{id}/stages/{key}/reject', {
    shared: 'admin',
    summary: 'Reject a waiting pipeline stage, which then fails',
    description:
      'The stage fails without a retry, and `onError` of the stage applies. By default, stages that require its success are skipped.',
    audit: 'pipelines.reject',
    unimpersonated: true,
    example: { digest: '0'.repeat(64), reason: 'Not today' },
    body: Answer,
    reply: PipelineRunDetail,
  }),
  input: endpoint.post('/api/pipelines/{id}/stages/{key}/input', {
    shared: 'admin',
    summary: 'Submit the input that a pipeline stage waits for',
    audit: 'pipelines.input',
    unimpersonated: true,
    example: { digest: '0'.repeat(64), values: { title: 'Spring' } },
    body: s.object('StageInput', { digest: digest(), values: s.record('InputValues') }),
    reply: PipelineRunDetail,
  }),
});

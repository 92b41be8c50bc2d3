import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const runStatus = () =>
  s.oneOf('RunStatus', 'queued', 'running', 'waiting', 'completed', 'failed', 'stopped');

const big = () => s.whole(0, Number.MAX_SAFE_INTEGER);

export const RunStageView = s.object('RunStage', {
  key: s.text(40),
  name: s.text(200),
  kind: s.text(20),
  needs: s.list(s.text(40), 100).description('The stages that end before it begins'),
  status: s.oneOf(
    'RunStageStatus',
    ...(['pending', 'running', 'waiting_approval', 'waiting_input'] as const),
    ...(['completed', 'failed', 'skipped', 'stopped'] as const),
  ),
  reason: s.nullable(s.anyText(2000)).description('Why it was skipped, waits or comes again'),
  attempt: s.whole(1, 1000),
  visits: s.whole(1, 1_000_000_000).description('How often the run has come to it'),
  agentId: s.nullable(s.id('agent')),
  operationId: s.nullable(s.id('operation')),
  digest: s.nullable(s.text(64)).description('Of what waits for an answer; the answer repeats it'),
  input: s.json().description('What it works with, or what is asked'),
  output: s.json(),
  error: s.nullable(s.anyText(10_000)),
  untrusted: s.flag().description('True: what came from outside is in it'),
  dueAt: s
    .nullable(s.time())
    .description('When it expires, has waited, is tried again or has taken too long'),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
});

const run = {
  id: s.id('pipeline'),
  parentId: s.nullable(s.id('pipeline')).description('The run of whose stage it is a part'),
  parentKey: s.nullable(s.text(40)).description('The key of that stage'),
  itemAt: s
    .nullable(s.whole(0, 999))
    .description('The place of its item in the list of a stage `foreach`, from 0'),
  templateId: s.text(80),
  templateVersion: s.whole(1, 1_000_000_000),
  name: s.text(200),
  params: s.record('RunParams'),
  status: runStatus(),
  untrusted: s.flag(),
  usage: s.object('RunUsage', { tokens: big(), costUsd: s.amount(0, Number.MAX_SAFE_INTEGER) }),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
};

export const PipelineRun = s.object('PipelineRun', run);
export type PipelineRun = s.Static<typeof PipelineRun>;
export const PipelineRunDetail = s.object('PipelineRunDetail', {
  ...run,
  stages: s.list(RunStageView, 100),
});
export type PipelineRunDetail = s.Static<typeof PipelineRunDetail>;

const digest = () => s.text(64).description('Of what was shown; another one is refused');
const Answer = s.object('StageAnswer', {
  digest: digest(),
  reason: s.optional(s.reason(2000)),
});

export const pipelines = contract({
  list: endpoint.get('/api/pipelines', {
    summary: 'List your runs of pipelines, newest first, without their stages',
    query: pageQuery('RunQuery', {
      status: s.optional(runStatus()),
      templateId: s.optional(s.text(80)),
      parentId: s.optional(
        s.text(80).description('Those that the stages of this run have begun; else none of them'),
      ),
      since: s.optional(s.moment().description('Those that were started then or later')),
    }),
    reply: pageOf('pipelines', PipelineRun),
  }),
  start: endpoint.post('/api/pipelines', {
    summary: 'Start a run of a template',
    example: { templateId: 'preset_release_notes', params: { version: '2.1', changes: 'Faster' } },
    body: s.object('NewRun', {
      templateId: s.text(80),
      params: s.optional(s.record('GivenParams')),
      name: s.optional(s.text(200).pattern(/\S/, 'some text')),
    }),
    reply: PipelineRunDetail,
    status: 201,
  }),
  get: endpoint.get('/api/pipelines/{id}', {
    summary: 'Show a run with its stages',
    reply: PipelineRunDetail,
  }),
  stop: endpoint.post('/api/pipelines/{id}/stop', {
    summary: 'Stop a run and everything under it',
    reply: PipelineRunDetail,
  }),
  retry: endpoint.post('/api/pipelines/{id}/retry', {
    summary: 'Go on with a run that has ended, from what failed or from a stage',
    example: { fromStage: 'draft' },
    body: s.object('RunRetry', {
      fromStage: s.optional(s.text(40).description('It and all below it begin anew')),
    }),
    reply: PipelineRunDetail,
  }),
  approve: endpoint.post('/api/pipelines/{id}/stages/{key}/approve', {
    summary: 'Approve what a stage waits for',
    audit: 'pipelines.approve',
    unimpersonated: true,
    example: { digest: '0'.repeat(64) },
    body: Answer,
    reply: PipelineRunDetail,
  }),
  reject: endpoint.post('/api/pipelines/{id}/stages/{key}/reject', {
    summary: 'Reject what a stage waits for, which fails it',
    audit: 'pipelines.reject',
    unimpersonated: true,
    example: { digest: '0'.repeat(64), reason: 'Not today' },
    body: Answer,
    reply: PipelineRunDetail,
  }),
  input: endpoint.post('/api/pipelines/{id}/stages/{key}/input', {
    summary: 'Give the values that a stage asks for',
    audit: 'pipelines.input',
    unimpersonated: true,
    example: { digest: '0'.repeat(64), values: { title: 'Spring' } },
    body: s.object('StageInput', { digest: digest(), values: s.record('InputValues') }),
    reply: PipelineRunDetail,
  }),
});

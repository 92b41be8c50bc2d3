import type { PipelineTemplate } from './contract.js';
import { DEFAULT_LIMITS } from './normalize.js';

const WRITTEN_AT = '2026-11-27T00:00:00.000Z';

type Preset = Pick<PipelineTemplate, 'name' | 'parameters' | 'stages'> & { description: string };

const preset = (id: string, of: Preset): PipelineTemplate => ({
  id: `preset_${id}`,
  orgId: null,
  ...of,
  stages: of.stages.map((stage) => ({ name: stage.key, needs: [], ...stage })),
  limits: DEFAULT_LIMITS,
  onFinish: { notifyOwner: true },
  preset: true,
  version: 1,
  createdAt: WRITTEN_AT,
  updatedAt: WRITTEN_AT,
});

const issueTriage = preset('issue_triage', {
  name: 'Issue triage',
  description: 'Classifies an issue and notifies you after your approval',
  parameters: [
    { key: 'issue', type: 'text', required: true, description: 'Title and text of the issue' },
    { key: 'labels', type: 'string', default: 'bug, feature, question' },
  ],
  stages: [
    {
      key: 'classify',
      kind: 'agent',
      config: {
        prompt:
          'Choose a label for this issue from: {{params.labels}}. Say how urgent it is and write a short answer to its author.\n\n{{params.issue}}',
      },
      output: {
        type: 'object',
        properties: {
          label: { type: 'string' },
          urgency: { enum: ['low', 'normal', 'high'] },
          answer: { type: 'string' },
        },
        required: ['label', 'urgency', 'answer'],
      },
    },
    {
      key: 'approve',
      kind: 'approval',
      needs: ['classify'],
      config: {
        message:
          'Label {{stages.classify.output.label}}, urgency {{stages.classify.output.urgency}}.\n\n{{stages.classify.output.answer}}',
      },
      timeoutSeconds: 86_400,
    },
    {
      key: 'tell',
      kind: 'tool',
      needs: ['approve', 'classify'],
      config: {
        toolId: 'notify',
        toolAction: 'send',
        toolParams: {
          title: 'Issue triaged: {{stages.classify.output.label}}',
          message: '{{stages.classify.output.answer}}',
        },
      },
    },
  ],
});

const releaseNotes = preset('release_notes', {
  name: 'Release notes',
  description: 'Drafts release notes from a list of changes and asks for your approval',
  parameters: [
    { key: 'version', type: 'string', required: true },
    { key: 'changes', type: 'text', required: true, description: 'One change on each line' },
  ],
  stages: [
    {
      key: 'draft',
      kind: 'agent',
      config: {
        prompt:
          'Write release notes for version {{params.version}}: one plain sentence for each change, the most useful first. Leave out what no user notices.\n\n{{params.changes}}',
      },
      retry: { attempts: 2 },
    },
    {
      key: 'approve',
      kind: 'approval',
      needs: ['draft'],
      config: { message: '{{stages.draft.output}}' },
    },
  ],
});

const dailyBriefing = preset('daily_briefing', {
  name: 'Daily briefing',
  description: 'Writes a short briefing from your knowledge and memories',
  parameters: [{ key: 'about', type: 'string', default: 'what is due and what changed' }],
  stages: [
    {
      key: 'brief',
      kind: 'agent',
      config: {
        prompt:
          'Write a briefing of at most ten lines about {{params.about}}. Search what I keep before you write, and name what you used.',
        topic: 'writer',
      },
    },
  ],
});

const documentMail = preset('document_mail', {
  name: 'Document to mail draft',
  description: 'Summarizes a document and drafts an e-mail about it. Nothing is sent',
  parameters: [
    { key: 'document', type: 'document', required: true },
    { key: 'recipient', type: 'string', required: true, description: 'Recipient of the e-mail' },
  ],
  stages: [
    {
      key: 'read',
      kind: 'tool',
      config: {
        toolId: 'documents',
        toolAction: 'read',
        toolParams: { id: '{{params.document}}' },
      },
    },
    {
      key: 'summary',
      kind: 'agent',
      needs: ['read'],
      config: { prompt: 'Summarize this document in five sentences:\n\n{{stages.read.output}}' },
    },
    {
      key: 'draft',
      kind: 'agent',
      needs: ['summary'],
      config: {
        prompt:
          'Write a short mail to {{params.recipient}} about this document:\n\n{{stages.summary.output}}',
      },
    },
  ],
});

const researchReport = preset('research_report', {
  name: 'Research to report',
  description: 'Researches a question, writes a report and asks for your approval',
  parameters: [{ key: 'question', type: 'string', required: true }],
  stages: [
    { key: 'research', kind: 'research', config: { question: '{{params.question}}' } },
    {
      key: 'report',
      kind: 'agent',
      needs: ['research'],
      config: {
        prompt:
          'Write a report of one page that answers “{{params.question}}”. Use nothing but this, and keep its references:\n\n{{stages.research.output.markdown}}',
      },
    },
    {
      key: 'approve',
      kind: 'approval',
      needs: ['report'],
      config: { message: '{{stages.report.output}}' },
      onError: { goto: 'report' },
    },
  ],
});

export const PRESETS = [issueTriage, releaseNotes, dailyBriefing, documentMail, researchReport];

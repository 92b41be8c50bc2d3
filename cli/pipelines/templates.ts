import { type Client, contracts, type PipelineTemplate } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag } from '../command.js';
import { crud } from '../crud.js';
import { writeIn } from '../editor.js';
import { failed, usageFault } from '../exit.js';
import { orgField, orgInput } from '../fields.js';
import { withOrgColumn } from '../orgslugs.js';
import { safe } from '../text.js';
import {
  check,
  fetchPipelineYaml,
  fileFlag,
  importText,
  printText,
  problemLines,
  readTemplate,
} from './file.js';
import { templateTree } from './tree.js';

const endpoints = await contracts.templates();

export const templateColumns = buildColumns<PipelineTemplate>(
  ['id:data', 'short=id:tail', 'name'],
  { name: 'stages', value: ({ stages }) => stages.length },
  { name: 'from', value: ({ preset }) => (preset ? 'Adjutant' : 'you') },
  ['description', 'version:data', 'updated=updatedAt:ago'],
);

export const templateCrud = crud({
  noun: 'template',
  rows: 'templates',
  path: 'pipelines templates',
  endpoints,
  columns: templateColumns,
  named: ({ id, name, preset }) => ({ id, name, isShipped: preset }),
});

const yaml = switchFlag('Print the template as YAML, for pipelines apply');

const get = command({
  name: 'get',
  args: '<template>',
  calls: [endpoints.get],
  examples: ['preset_release_notes', 'preset_release_notes --yaml > notes.yaml', 'notes --json'],
  flags: { yaml },
  run: async (context, { args, flags }) => {
    const { client, id } = await templateCrud.find(context, args.template);
    if (flags.yaml) return printText(context, await fetchPipelineYaml(client, id));
    const template = await client.templates.get({ id, query: {} });
    context.out.item(template, await withOrgColumn(context, [template], templateColumns));
  },
});

const create = command({
  name: 'create',
  calls: [endpoints.import, endpoints.create],
  summary: 'Create a template from a file',
  examples: ['-f notes.yaml', '-f notes.json --json', '-f - < notes.yaml'],
  flags: { file: fileFlag },
  fields: () => [orgField],
  notes: ['To update the template from the same file later: adjutant pipelines apply -f <file>'],
  run: async (context, { flags: { file }, fields }) => {
    if (file === undefined) throw usageFault('Template file is missing. Add -f <file>');
    const { client, text } = await readTemplate(context, file);
    const made = await importText(client, text, orgInput(fields).orgId);
    context.out.done(`Created ${safe(made.name)}.`, made, templateColumns);
  },
});

const editYaml = async (context: Context, { client, id }: { client: Client; id: string }) => {
  const present = await client.templates.get({ id, query: {} });
  if (present.preset)
    throw failed(`${id} ships with Adjutant and cannot be changed.`, ...renderCopyHint(id));
  const before = await fetchPipelineYaml(client, id);
  for (let draft = before; ; ) {
    const outcome = await writeIn('template.yaml', draft);
    if (outcome.is === 'refused') throw failed(`${outcome.reason}.`);
    draft = outcome.text;
    if (draft === before) {
      context.out.note('Nothing was changed.');
      return null;
    }
    const checked = await check(client, draft);
    if (checked.template) {
      const body = { ...checked.template, version: present.version };
      return client.templates.update({ id, body });
    }
    for (const line of problemLines('template.yaml', checked)) context.out.note(line);
    await context.ask.confirm('Open it again?');
  }
};

const renderCopyHint = (id: string): string[] => [
  `Create your own copy: adjutant pipelines templates get ${id} --yaml > mine.yaml`,
  'Change the file, then: adjutant pipelines apply -f mine.yaml',
];

const graph = command({
  name: 'graph',
  args: '<template>',
  calls: [endpoints.graph, endpoints.get],
  summary: 'Show the stages of a template as a tree',
  examples: ['preset_issue_triage', 'notes --mermaid > notes.mmd', 'notes --json'],
  flags: { mermaid: switchFlag('Print the template as a Mermaid flowchart') },
  run: async (context, { args, flags }) => {
    const { client, id } = await templateCrud.find(context, args.template);
    if (flags.mermaid) return printText(context, await client.templates.graph({ id }));
    const template = await client.templates.get({ id, query: {} });
    if (context.out.format === 'json') return context.out.json(template.stages);
    for (const line of templateTree(template.stages)) context.out.line(safe(line));
  },
});

export const templatesGroup: CommandGroup = {
  commands: [
    templateCrud.list({
      examples: ['', '--no-preset', '--json'],
      next: (rows) =>
        rows.some(({ preset }) => !preset)
          ? undefined
          : 'Create your own: adjutant pipelines templates get preset_release_notes ' +
            '--yaml > mine.yaml',
    }),
    get,
    create,
    templateCrud.update({
      edit: editYaml,
      message: ({ name }, { version }) => `Updated ${safe(name)}: version ${version}.`,
      notes: [
        'On a terminal without other flags, the command opens the YAML in $VISUAL or $EDITOR.',
      ],
      examples: [
        'notes',
        'notes --description "Asks before anything is published"',
        'notes --max-cost-usd 2',
      ],
    }),
    graph,
    templateCrud.delete({
      examples: ['notes', 'notes --yes', '4ew6rt --yes --quiet'],
      ask: ({ name }) => `Delete the template ${safe(name)}? Its runs are kept.`,
    }),
  ],
  notes: ['Identify a template by its name, its id, or the last six characters of the id.'],
};

import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch } from 'diff';
import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { orgField, orgInput } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import {
  check,
  fileFlag,
  findOwnTemplate,
  problemLines,
  readTemplate,
  type TemplateSource,
  toTemplateSource,
} from '../pipelines/file.js';
import { runCommands } from '../pipelines/runs.js';
import { templateColumns } from '../pipelines/templates.js';
import { safe } from '../text.js';

const endpoints = await contracts.templates();
const flags = { file: fileFlag };

const fileIn = (file: string | undefined): string => {
  if (file === undefined) throw usageFault('Template file is missing. Add -f <file>');
  return file;
};

const validate = command({
  name: 'validate',
  calls: [endpoints.validate],
  examples: ['-f notes.yaml', '-f notes.yaml --json', '-f - < notes.yaml'],
  flags,
  notes: ['Exit code 1: the template is invalid. Each error is reported with its line.'],
  run: async (context, { flags: { file } }) => {
    const text = await readFileOrStdin(context, fileIn(file));
    const checked = await check(await context.client(), text);
    if (!checked.valid) context.exitCode = Exit.failed;
    if (context.out.format === 'json') return context.out.json(checked);
    for (const line of problemLines(file === '-' ? 'stdin' : `${file}`, checked))
      context.out.line(line);
    if (checked.valid) context.out.note('The template is valid.');
  },
});

const apply = command({
  name: 'apply',
  calls: [endpoints.validate, endpoints.list, endpoints.create, endpoints.update],
  summary: 'Create or update a template from a file',
  examples: ['-f notes.yaml', '-f notes.yaml --org acme', '-f - < notes.yaml'],
  flags,
  fields: () => [orgField],
  run: async (context, { flags: { file }, fields }) => {
    const { client, template } = await readTemplate(context, fileIn(file));
    const org = orgInput(fields);
    const present = await findOwnTemplate(client, { name: template.name, ...org });
    if (present && isDeepStrictEqual(toTemplateSource(present), template)) {
      const sentence = `${safe(present.name)} already matches the file: version ${present.version}.`;
      return context.out.done(sentence, present, templateColumns);
    }
    const row = present
      ? await client.templates.update({
          id: present.id,
          body: { ...template, version: present.version },
        })
      : await client.templates.create({ body: { ...template, ...org } });
    const sentence = present
      ? `Updated ${safe(row.name)}: version ${row.version}.`
      : `Created ${safe(row.name)}.`;
    context.out.done(sentence, row, templateColumns);
  },
});

const diff = command({
  name: 'diff',
  calls: [endpoints.validate, endpoints.list],
  summary: 'Preview the changes of pipelines apply',
  examples: ['-f notes.yaml', '-f notes.yaml --quiet', '-f - < notes.yaml'],
  flags,
  fields: () => [orgField],
  notes: ['Exit code 1: there is a difference.'],
  run: async (context, { flags: { file }, fields }) => {
    const { client, text, template } = await readTemplate(context, fileIn(file));
    const present = await findOwnTemplate(client, { name: template.name, ...orgInput(fields) });
    const textOf = await writerFor(text);
    const before = present ? textOf(toTemplateSource(present)) : '';
    const after = textOf(template);
    if (before === after) return context.out.note('No differences.');
    context.exitCode = Exit.failed;
    const names = [present ? `version ${present.version}` : 'nothing', `${file}`] as const;
    const lines = createTwoFilesPatch(...names, before, after)
      .trimEnd()
      .split('\n')
      .slice(1);
    for (const line of lines) context.out.line(safe(line));
  },
});

/** Returns a serializer for the format of a text: JSON, or YAML as the daemon writes it. */
const writerFor = async (text: string): Promise<(template: TemplateSource) => string> => {
  if (/^\s*\{/.test(text)) return (template) => `${JSON.stringify(template, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return ({ name, description, parameters, ...template }) =>
    stringify(
      {
        name,
        ...(description && { description }),
        ...(parameters?.length && { parameters }),
        ...template,
      },
      { lineWidth: 100, aliasDuplicateObjects: false },
    );
};

export const pipelinesGroup: CommandGroup = {
  commands: [...runCommands, validate, apply, diff],
  notes: ['Identify a run by its name, its id, or the last six characters of the id.'],
};

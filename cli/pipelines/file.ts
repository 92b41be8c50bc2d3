import type { Client, PipelineTemplate, TemplateCheck } from '../../src/client/index.js';
import { type Context, textFlag } from '../command.js';
import { failed } from '../exit.js';
import { pathInOrg } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { oneLine, safe, withCommands } from '../text.js';

const YAML = 'application/yaml';
const PATH = '/api/pipelines/templates';

export const fileFlag = {
  ...textFlag('<file>', 'YAML or JSON file of the template; - reads stdin'),
  short: '-f',
};

export type TemplateSource = NonNullable<TemplateCheck['template']>;

export const check = async (client: Client, text: string): Promise<TemplateCheck> => {
  const request = { method: 'POST', path: `${PATH}/validate`, isRepeatable: true };
  return (
    await client.request<TemplateCheck>({
      ...request,
      headers: { 'content-type': YAML },
      body: text,
    })
  ).body;
};

export const importText = async (
  client: Client,
  text: string,
  orgId: string | undefined,
): Promise<PipelineTemplate> => {
  const path = pathInOrg(`${PATH}/import`, orgId);
  const request = { method: 'POST', path, headers: { 'content-type': YAML } };
  return (await client.request<PipelineTemplate>({ ...request, body: text })).body;
};

export const fetchPipelineYaml = async (client: Client, id: string): Promise<string> => {
  const path = `${PATH}/${encodeURIComponent(id)}?format=yaml`;
  return (await client.request<string>({ method: 'GET', path, isRepeatable: true })).body;
};

/** The problems of a template, each with its place in the file. */
export const problemLines = (file: string, { problems }: TemplateCheck): string[] =>
  problems.map(({ path, message, line }) => {
    const place = [file, ...(line === undefined ? [] : [line])].join(':');
    return oneLine(`${place}: ${path === '' ? 'the template' : path} ${withCommands(message)}`);
  });

/** Reads and validates a file. Throws with all problems. */
export const readTemplate = async (
  context: Context,
  file: string,
): Promise<{ client: Client; text: string; template: TemplateSource }> => {
  const text = await readFileOrStdin(context, file);
  const client = await context.client();
  const checked = await check(client, text);
  if (checked.template) return { client, text, template: checked.template };
  throw failed(
    `${file} is not a valid template.`,
    ...problemLines(file === '-' ? 'stdin' : file, checked),
  );
};

/** Finds the template of the user, or of the organization, with exactly this name. */
export const findOwnTemplate = async (
  client: Client,
  { name, orgId = 'personal' }: { name: string; orgId?: string },
): Promise<PipelineTemplate | undefined> =>
  (await client.templates.list({ query: { name, preset: false, orgId } })).templates.find(
    ({ preset }) => !preset,
  );

export const toTemplateSource = ({
  name,
  description,
  parameters,
  stages,
  limits,
  onFinish,
}: TemplateSource): TemplateSource => ({
  name,
  description,
  parameters,
  stages,
  limits,
  onFinish,
});

export const printText = ({ out }: Context, text: string): void => {
  for (const line of text.trimEnd().split('\n')) out.line(safe(line));
};

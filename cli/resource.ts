import { contracts, type Endpoint } from '../src/client/index.js';
import { buildColumns } from './columns.js';
import type { CommandGroup } from './command.js';
import { type ChangeEndpoint, crud, type RowEndpoint } from './crud.js';
import { dashed } from './fields.js';
import { type ListEndpoint, type ListOptions, requestCommand } from './request.js';
import { safe } from './text.js';

type ResourceRow = Record<string, unknown> & { id: string; name: string };

interface ResourceEndpoints {
  list: ListEndpoint<string, ResourceRow>;
  get: RowEndpoint<ResourceRow>;
  create: ChangeEndpoint<ResourceRow>;
  update: ChangeEndpoint<ResourceRow>;
  delete: Endpoint;
}

interface ResourceOptions {
  /** `expert`: the prefix of its ids. */
  noun: string;
  /** Fields of its rows, in the notation of `toTemplateColumns`. */
  columns: string[];
  list?: Partial<Pick<ListOptions<string, ResourceRow, ''>, 'examples' | 'next' | 'seeAlso'>>;
}

/**
 * Creates the commands of a resource from its contract alone: list, get, create, update and
 * delete. Their help shows the examples of the contract.
 */
export const resourceGroup = async (
  resource: keyof typeof contracts,
  { noun, columns: fields, list }: ResourceOptions,
): Promise<CommandGroup> => {
  const loaders: object = contracts;
  const endpoints: ResourceEndpoints = await Reflect.get(loaders, resource)();
  const columns = buildColumns<ResourceRow>(['id:data', ...fields]);
  const verbs = crud({ noun, rows: resource, endpoints, columns, named: (row) => row });
  const { name, ...input } = getEndpointExample(endpoints.create);
  const changes = getEndpointExample(endpoints.update);
  const shown = columns.map((column) => column.name).slice(1, 3);
  const file = `--data @${noun}.json`;
  return {
    commands: [
      verbs.list({ examples: ['', '--json', '--all'], ...list }),
      verbs.get({ examples: [`${name}`, `${name} --json`, `${name} --fields ${shown}`] }),
      requestCommand({
        name: 'create',
        args: '[name]',
        endpoint: endpoints.create,
        examples: [`${name} ${formatExampleFlags(input)}`, `${name} ${file}`, file],
        except: ['name'],
        asks: [],
        areFields: true,
        takesData: true,
        show: ({ out }, row) => out.done(`Created ${safe(row.name)}.`, row, columns),
      }),
      verbs.update({
        examples: [`${name} ${formatExampleFlags(changes)}`, `${name} ${file}`, `${name} --edit`],
      }),
      verbs.delete({
        examples: [`${name}`, `${name} --yes`, `${name} --yes --quiet`],
        ask: (row) => `Delete ${noun} ${safe(row.name)}?`,
      }),
    ],
    notes: [`Identify the ${noun} by its name, its id, or the last six characters of the id.`],
  };
};

const getEndpointExample = ({ example, path }: Endpoint): Record<string, unknown> => {
  if (typeof example !== 'object') throw new TypeError(`${path} has no example`);
  return { ...example };
};

const formatExampleFlags = (example: Record<string, unknown>): string =>
  Object.entries(example)
    .map(([field, value]) => `--${dashed(field)} ${quoted(value)}`)
    .join(' ');

const quoted = (value: unknown): string => {
  const text = Array.isArray(value) ? value.join() : String(value);
  return /[\s"']/.test(text) ? JSON.stringify(text) : text;
};

import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation, operationFields } from '../kernel/contract/operation.js';
import * as s from '../kernel/contract/schema.js';

const bytes = () => s.integer(0, Number.MAX_SAFE_INTEGER);
const bytesOrNull = () => s.nullable(bytes());
const licence = () =>
  s.nullable(s.anyText(200)).description('Name of the licence. `null` if the licence is not known');
const USES = ['chat', 'tools', 'code', 'embedding', 'speech'] as const;
const purpose = () => s.oneOf('UseCase', ...USES);
const ABOUT =
  'A capability is an optional component that Adjutant can install or use, such as a model, a speech engine or a language.';
const WINDOW =
  'Context window, in tokens, up to the maximum of the model. Defaults to the largest of ' +
  '32768, 16384 and 8192 that fits in memory';
const contextWindow = () => s.optional(s.queryWhole(256, 10_000_000).description(WINDOW));
const id = () =>
  s
    .text(200)
    .pattern(
      /^[a-z0-9][A-Za-z0-9._:/-]*$/,
      'a slug, or <kind>:<name>, such as gguf:qwen3-4b. A path is not supported',
    )
    .example('gguf:qwen3-4b');

const MemoryWarning = s.object('MemoryWarning', {
  message: s.anyText(1000).description('Human-readable warning'),
  neededBytes: bytes().description(
    'Memory required with the requested context window, in bytes. The default window is 8192 tokens',
  ),
  usableBytes: bytes().description('Free memory that a model may use, in bytes'),
});
export type MemoryWarning = s.Static<typeof MemoryWarning>;
const memoryWarning = () => s.nullable(MemoryWarning);

const InstallFacts = s.object('CapabilityInstall', {
  bytes: bytesOrNull().description(
    'Download size, in bytes. `null` if the size is not known in advance',
  ),
  licence: licence(),
  licenceUrl: s
    .nullable(s.text(2000))
    .description('Address of the licence text. `null` if there is none'),
  mustAccept: s
    .boolean()
    .description('Whether you must accept the licence terms before the installation'),
  source: s.text(2000).description('Source of the download'),
  needs: s.list(s.text(200), 20).description('Other capabilities that this capability requires'),
  warning: memoryWarning().description(
    'Memory warning. `null` if the model fits into the available memory, or the available memory is not known',
  ),
});

export const Capability = s.object('Capability', {
  id: s
    .text(200)
    .description(
      'Slug of an installed capability, else the `id` for `POST /api/capabilities/install`. A capability that is not installed and has no `install` cannot be installed by Adjutant',
    ),
  kind: s.oneOf('CapabilityKind', 'model', 'engine', 'language', 'tool', 'runtime'),
  name: s.text(200),
  status: s
    .oneOf('CapabilityStatus', 'available', 'missing', 'degraded', 'installing', 'unsupported')
    .description(
      'Status of the capability. `missing`: not installed. `degraded`: installed, but not working, or without a login. `unsupported`: cannot be installed on this machine',
    ),
  version: s.nullable(s.text(200)).description('Version. `null` if the version is not known'),
  path: s
    .nullable(s.text(4096))
    .description(
      'Path on the disk, or the address of Ollama. `null` if there is none, and for users who are not admins',
    ),
  reason: s
    .nullable(s.anyText(2000))
    .description(
      'Reason why the capability is not available. `null` if the capability is available or being installed',
    ),
  bytes: bytesOrNull().description(
    'Size on the disk, in bytes. `null` if Adjutant did not install the capability',
  ),
  licence: licence(),
  usedBy: s
    .list(s.text(300), 1000)
    .description('Resources that use the capability, for example `models/qwen`'),
  install: s
    .nullable(InstallFacts)
    .description(
      'Installation details. `null` if the capability is already installed or cannot be installed by Adjutant',
    ),
});
export type Capability = s.Static<typeof Capability>;

const CapabilitySource = s.object('CapabilitySource', {
  path: s
    .nullable(s.text(4096))
    .description('Folder set in `ADJUTANT_CAPABILITY_SOURCE`. `null` for users who are not admins'),
  fault: s
    .nullable(s.anyText(1000))
    .description('Reason why the folder cannot be used. `null` if the folder can be used'),
  items: s.list(
    s.object('SourceItem', {
      id: s
        .text(200)
        .description('ID of the capability. Pass it as `id` to `POST /api/capabilities/install`'),
      slug: s.text(100),
      kind: s.oneOf('SourceItemKind', 'model', 'engine', 'language'),
      name: s.text(200),
      version: s.nullable(s.text(200)).description('Version. `null` if the version is not known'),
      bytes: bytes(),
      licence: licence(),
      installed: s.boolean(),
    }),
    2000,
  ),
});

export const Installation = s.object('Installation', {
  ...operationFields(),
  warning: memoryWarning().description(
    'Memory warning. `null` if the model fits into the available memory, or the available memory is not known',
  ),
});

const Speed = s.object('TokensPerSecond', {
  unit: s
    .oneOf('SpeedUnit', 'written', 'read')
    .description('Counted tokens: `written` in replies, or `read` to compute embeddings'),
  estimated: s
    .nullable(s.number(0, Number.MAX_SAFE_INTEGER))
    .description('Estimated speed, in tokens per second. `null` if the speed cannot be estimated'),
  measured: s
    .nullable(
      s.object('MeasuredSpeed', {
        median: s.number(0, Number.MAX_SAFE_INTEGER),
        spread: s
          .number(0, Number.MAX_SAFE_INTEGER)
          .description(
            'Difference between the fastest and the slowest run, as a fraction of the median',
          ),
      }),
    )
    .description('Measured speed, in tokens per second. `null` if the speed was not measured'),
});

const ModelFit = s.object('ModelFit', {
  model: s
    .text(200)
    .description('Slug of an installed model, else the `id` for `POST /api/capabilities/install`'),
  name: s.text(200),
  useCases: s.list(purpose(), 5),
  parameters: s
    .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
    .description('Number of parameters of the model. `null` if not known'),
  quantization: s
    .nullable(s.text(40))
    .description('Quantization of the weights, such as `Q4_K_M`. `null` if not known'),
  contextWindow: s
    .integer(0, 100_000_000)
    .description('Context window in tokens, up to the maximum of the model'),
  weightsBytes: bytes(),
  kvCacheBytes: bytesOrNull().description(
    'Size of the KV cache for `contextWindow`, in bytes. `null` if the architecture of the model is not known',
  ),
  bufferBytes: bytesOrNull().description(
    'Size of the compute buffers for `contextWindow`, in bytes. `null` if not known',
  ),
  totalBytes: bytes().description('Total memory required for `contextWindow`, in bytes'),
  runsOn: s
    .oneOf('RunsOn', 'gpu', 'cpu', 'split', 'none')
    .description(
      'Processor that runs the model. `split`: GPU and CPU together. `none`: the model does not fit into memory',
    ),
  headroomBytes: s
    .integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    .description('Usable memory that remains, in bytes. Negative if the model needs more memory'),
  tokensPerSecond: Speed,
  licence: licence(),
  installed: s.boolean(),
  reason: s
    .nullable(s.anyText(2000))
    .description(
      'Reason why the model can be neither used nor installed. `null` if the model can be used or installed',
    ),
  recommended: s
    .boolean()
    .description(
      'Whether the model is the first choice for the requested use case. The default use case is `chat`',
    ),
  recommendedFor: s
    .list(purpose(), 5)
    .description('Use cases for which the model is the first choice'),
  why: s.anyText(3000),
});
export type ModelFit = s.Static<typeof ModelFit>;

export const Hardware = s.object('Hardware', {
  platform: s.text(40).example('linux'),
  cpu: s.object('MachineCpu', {
    model: s.nullable(s.text(200)).description('Name of the processor. `null` if not known'),
    cores: s
      .nullable(s.integer(1, 100_000))
      .description('Number of cores that can be used at the same time. `null` if unknown'),
    arch: s.text(40),
    flags: s.list(s.text(60), 1000),
  }),
  memory: s.object('MachineMemory', {
    totalBytes: bytesOrNull().description('Total memory, in bytes. `null` if not known'),
    availableBytes: bytesOrNull().description('Available memory, in bytes. `null` if not known'),
    bytesPerSecond: bytesOrNull().description(
      'Measured memory bandwidth of all cores together, in bytes per second. `null` if not measured',
    ),
  }),
  gpus: s.list(
    s.object('MachineGpu', {
      vendor: s.oneOf('GpuVendor', 'nvidia', 'amd', 'apple', 'intel', 'unknown'),
      name: s.text(200),
      vramBytes: bytesOrNull().description(
        'GPU memory, in bytes. `null` if the size is not known or the memory is shared with the CPU',
      ),
      driver: s.nullable(s.text(100)).description('Version of the GPU driver. `null` if not known'),
    }),
    64,
  ),
  gpuNote: s
    .nullable(s.anyText(1000))
    .description(
      'Note about a GPU that the llama.cpp engine does not use. `null` if there is none',
    ),
  disk: s.object('MachineDisk', {
    freeBytes: bytesOrNull().description(
      'Free disk space for capabilities, in bytes. `null` if not known',
    ),
  }),
  sources: s.list(
    s.object('HardwareSource', {
      part: s.oneOf('HardwarePart', 'cpu', 'memory', 'gpus', 'disk'),
      source: s.text(200),
      note: s
        .nullable(s.anyText(1000))
        .description('Note about the detected values. `null` if there is none'),
    }),
    20,
  ),
  catalogue: s.object('CatalogueSource', {
    date: s.text(10),
    source: s.text(2000).description('`built in`, or the URL or path of the catalogue'),
    fault: s
      .nullable(s.anyText(1000))
      .description(
        'Reason why the configured catalogue is not used. `null` if the catalogue is used or none is configured',
      ),
  }),
  fit: s.list(ModelFit, 1000),
});
export type Hardware = s.Static<typeof Hardware>;

export const NewCapability = s.object('NewCapability', {
  id: id(),
  url: s.optional(s.url(2000).description('HTTPS URL of a GGUF file that is not in the catalogue')),
  sha256: s.optional(
    s
      .text(64)
      .pattern(/^[0-9a-f]{64}$/, '64 hexadecimal digits')
      .description('SHA-256 checksum of the file, in hexadecimal. Required with `url`'),
  ),
  acceptLicence: s.optional(s.boolean().description('Whether you accept the licence')),
  useCase: s.optional(
    s
      .oneOf('RegisteredUse', ...USES)
      .description(
        'Use case. If set, the installed model is registered, except for `speech`. A registered ' +
          'model that can reply becomes the default model if only the digest can reply so far',
      ),
  ),
  contextWindow: s.optional(s.integer(256, 10_000_000).description(WINDOW)),
});
export type NewCapability = s.Static<typeof NewCapability>;

export type Installation = s.Static<typeof Installation>;
export type CapabilitySource = s.Static<typeof CapabilitySource>;

const path = '/api/capabilities';

export const capabilities = contract({
  list: endpoint.get(path, {
    summary: 'List capabilities, such as models, engines and languages',
    description: ABOUT,
    query: s.object('CapabilityQuery', {
      kind: s.optional(s.oneOf('CapabilityKind', 'model', 'engine', 'language', 'tool', 'runtime')),
    }),
    reply: s.object('Capabilities', {
      capabilities: s.list(Capability, 2000),
      source: s
        .nullable(CapabilitySource)
        .description(
          'Folder from which capabilities are installed. `null` if capabilities are downloaded',
        ),
    }),
  }),
  hardware: endpoint.get(`${path}/hardware`, {
    summary: 'Get hardware details and model recommendations',
    // The first call measures the memory bandwidth.
    maxReplyMs: 60_000,
    query: s.object('HardwareQuery', {
      contextWindow: contextWindow(),
      useCase: s.optional(purpose()),
    }),
    reply: Hardware,
  }),
  install: endpoint.post(`${path}/install`, {
    summary: 'Install a capability, such as a model',
    description: ABOUT,
    access: 'admin',
    audit: 'capabilities.install',
    example: { id: 'gguf:qwen3-4b', useCase: 'chat' },
    body: NewCapability,
    reply: Installation,
    status: 202,
  }),
  measure: endpoint.post(`${path}/measure`, {
    summary: 'Measure the speed of a model',
    access: 'admin',
    audit: 'capabilities.measure',
    example: { model: 'qwen' },
    body: s.object('NewMeasurement', {
      model: s.text(100).description('Name of a registered model'),
      contextWindow: s.optional(s.integer(256, 10_000_000)),
    }),
    reply: Operation,
    status: 202,
  }),
  verify: endpoint.post(`${path}/{slug}/verify`, {
    summary: 'Verify the files of a capability, such as a model',
    description:
      'Compares the SHA-256 checksums of the installed files with the recorded checksums.',
    access: 'admin',
    reply: Operation,
    status: 202,
  }),
  delete: endpoint.delete(`${path}/{slug}`, {
    summary: 'Delete an installed capability, such as a model',
    description: ABOUT,
    access: 'admin',
    audit: 'capabilities.delete',
    query: s.object('CapabilityRemoval', {
      force: s.optional(
        s
          .queryFlag()
          .description(
            'Whether to delete the capability even if registered models use the capability. These models then stop working. Defaults to `false`: the request is refused with 409',
          ),
      ),
    }),
  }),
});

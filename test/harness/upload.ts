export interface UploadedFile {
  name: string;
  content: string | Uint8Array;
}

export const upload = async (
  { url, orgId }: { url: string; orgId?: string },
  token: string,
  files: UploadedFile[],
  fields: Record<string, string> = {},
) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { name, content } of files) {
    form.append('files', new Blob([content]), name);
  }
  const response = await fetch(
    `${url}/api/documents/upload${orgId === undefined ? '' : `?orgId=${orgId}`}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    },
  );
  return { status: response.status, body: (await response.json()) as UploadReply };
};

interface UploadReply {
  documents: { id: string; filename: string; status: string; duplicate: boolean }[];
  refused: { filename: string; reason: string }[];
  message: string;
  code?: string;
}

import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';

/**
 * The parts of the protocol that the official suite asks for and `createMcpServer` does not offer, as a program would
 * add them to that server: its handlers exist next to ours.
 * @param picture base64
 */
export function addParts(server: Server, picture: string): Server {
  server.registerCapabilities({ logging: {}, completions: {}, prompts: {}, resources: { subscribe: true } });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2 },
  }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [contentOf(uri, picture)],
  }));
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }) => ({
    messages: contentsOf(name, args, picture).map((content) => ({ role: 'user' as const, content })),
  }));
  return server;
}

function contentOf(uri: string, picture: string) {
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: picture };
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  if (id === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No resource ${uri}.`);
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) };
}

const named = (name: string, ...args: readonly string[]) => ({
  name,
  description: `${name} of the suite.`,
  arguments: args.map((argument) => ({ name: argument, required: true })),
});

const PROMPTS = [
  named('test_simple_prompt'),
  named('test_prompt_with_arguments', 'arg1', 'arg2'),
  named('test_prompt_with_embedded_resource', 'resourceUri'),
  named('test_prompt_with_image'),
];

function contentsOf(name: string, args: Readonly<Record<string, string>>, picture: string) {
  const text = (words: string) => ({ type: 'text' as const, text: words });
  switch (name) {
    case 'test_prompt_with_arguments':
      return [text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)];
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args.resourceUri ?? '',
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      return [{ type: 'resource' as const, resource }, text('Please process the embedded resource above.')];
    }
    case 'test_prompt_with_image':
      return [
        { type: 'image' as const, data: picture, mimeType: 'image/png' },
        text('Please analyze the image above.'),
      ];
    default:
      return [text('This is a simple prompt for testing.')];
  }
}

// What `useChat` of @ai-sdk/react does, without React: the same chat, drawn by hand.
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';

class PageChat extends AbstractChat {
  constructor(init) {
    const state = {
      status: 'ready',
      error: undefined,
      messages: [],
      pushMessage: (message) => draw(state.messages.push(message)),
      popMessage: () => draw(state.messages.pop()),
      replaceMessage: (index, message) => draw(state.messages.splice(index, 1, message)),
      snapshot: (thing) => structuredClone(thing),
    };
    super({ ...init, state });
  }
}

const chat = new PageChat({
  id: new URLSearchParams(location.search).get('chat') ?? 'chat-1',
  transport: new DefaultChatTransport({ api: '/api/chat' }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  onError: ({ message }) => document.body.append(message),
});

function draw() {
  const list = document.querySelector('#messages');
  list.replaceChildren(
    ...chat.messages.flatMap(({ role, parts }) => parts.flatMap((part) => drawPart(role, part))),
  );
}

function drawPart(role, part) {
  const line = document.createElement('p');
  if (part.type === 'text') line.textContent = `${role}: ${part.text}`;
  else if (part.type === 'dynamic-tool') {
    line.textContent = `${part.toolName} ${JSON.stringify(part.input)}: ${part.state}`;
    if (part.state === 'approval-requested') line.append(answerButton(part, true), answerButton(part, false));
  } else return [];
  return [line];
}

function answerButton({ approval: { id } }, approved) {
  const button = document.createElement('button');
  button.textContent = approved ? 'approve' : 'refuse';
  button.onclick = () => chat.addToolApprovalResponse({ id, approved });
  return button;
}

document.querySelector('form').onsubmit = (event) => {
  event.preventDefault();
  chat.sendMessage({ text: document.querySelector('input').value });
};
globalThis.chat = chat;

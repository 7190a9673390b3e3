Feature: A host is asked
  Every request of an extension is answered once, under its id. What is not open to it is refused, and the process goes on.

  @0.1 @0.2 @0.4 @EXT04-ENV-015 @EXT04-ENV-018 @EXT04-ENV-021 @EXT04-ORDER-009 @EXT04-BUS-001
  Scenario: Requests that are refused for their ids or their methods
    Given a sound extension
    When it asks during a call
      | id | method | params | answer | rule |
      | | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | result | EXT04-ENV-015 |
      | "ask-1" | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | error invalid_request | EXT04-ENV-018 |
      | "«repeat 257 i»" | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | error invalid_request or nothing | EXT04-ENV-021 |
      | | conform/unknown | {"parent_request_id":«call»} | token unsupported_feature | EXT04-ORDER-009 |
      | | tool/call | {"name":"echo","arguments":{}} | token unsupported_feature | EXT04-ORDER-009 |
      | | secret/get | {"parent_request_id":«call»,"name":"key"} | token unsupported_feature | EXT04-ORDER-009 |
      | | bus/subscribe | {"binding_id":"b","topic":"bus.peer.news"} | error unknown_method | EXT04-BUS-001 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.1 @0.2 @0.4 @EXT04-ENV-017 @EXT04-NOTE-005 @EXT04-CTX-007 @EXT04-STATUS-006
  Scenario: What needs no answer
    Given a sound extension
    And its manifest declares {"notifications":false,"context":false,"ui":[]}
    When it asks at once during a call
      | frame | answer | rule |
      | {"jsonrpc":"2.0","id":77,"result":{},"error":{"code":-32603,"message":"both"}} | nothing | EXT04-ENV-017 |
      | {"jsonrpc":"2.0","method":"notification","params":{"message":"undeclared-note"}} | nothing | EXT04-NOTE-005 |
      | {"jsonrpc":"2.0","method":"context/contribution","params":{"contribution":{"text":"undeclared-context"}}} | nothing | EXT04-CTX-007 |
      | {"jsonrpc":"2.0","method":"status/contribution","params":{"contribution":{"surface":"status","text":"undeclared-status"}}} | nothing | EXT04-STATUS-006 |
    Then the host answers as wanted
    And the host says what the tool said
    And the host does not say "undeclared-note"

  @0.2 @0.4 @EXT04-ENV-022 @EXT04-CANCEL-014 @EXT04-CANCEL-017 @EXT04-PARENT-007 @EXT04-PARENT-008 @EXT04-PARENT-009 @EXT04-ERR-007
  Scenario: Requests and what they belong to
    Given a sound extension
    When it asks during a call
      | id | method | params | answer | rule |
      | «call» | input/request | {"parent_request_id":«call»,"prompt":"Name?","secret":false} | error invalid_request | EXT04-ENV-022 |
      | | $/cancelRequest | {"id":"ask-none","reason":"over"} | nothing | EXT04-CANCEL-017 |
      | | $/cancelRequest | {"id":«call»,"reason":"over"} | nothing | EXT04-CANCEL-017 |
      | | input/request | {"prompt":"Name?","secret":false} | error invalid_params | EXT04-PARENT-007 |
      | | input/request | {"parent_request_id":null,"prompt":"Name?","secret":false} | error invalid_params | EXT04-PARENT-007 |
      | | input/request | {"parent_request_id":"«call»","prompt":"Name?","secret":false} | error invalid_params | EXT04-PARENT-009 |
      | | input/request | {"parent_request_id":«initialize»,"prompt":"Name?","secret":false} | error not_foreground_owner | EXT04-PARENT-008 |
      | | input/request | {"parent_request_id":«unissued»,"prompt":"Name?","secret":false} | error not_foreground_owner | EXT04-PARENT-008 |
      | | input/request | {"parent_request_id":«call»,"prompt":7,"secret":false} | error invalid_params | EXT04-ERR-007 |
      | | confirmation/request | {"parent_request_id":«unissued»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | error not_foreground_owner | EXT04-ERR-007 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-CANCEL-014
  Scenario: A request that the extension cancels
    Given a sound extension
    When it asks at once during a call
      | method | params | answer |
      | input/request | {"parent_request_id":«call»,"prompt":"Take your time.","secret":false} | error request_cancelled or result |
      | $/cancelRequest | {"id":"ask-1","reason":"over"} | nothing |
    Then the host answers as wanted
    And the host says what the tool said

  @0.1 @0.2 @0.4 @EXT04-ORDER-009
  Scenario: Requests before initialize is answered
    Given a sound extension
    When it asks before initialize is answered
      | method | params | answer |
      | confirmation/request | {"parent_request_id":«initialize»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | token unsupported_feature |
      | tools/register | {"tools":[]} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-PROG-010 @EXT04-PROG-015
  Scenario: Progress that is none
    Given a sound extension
    And it selects "request_progress, progress_decoration"
    When it asks at once during a call
      | method | params | answer | rule |
      | $/progress | {"request_id":«unissued»,"sequence":1,"event":{"type":"status","message":"lost"}} | nothing | EXT04-PROG-010 |
      | $/progress | {"request_id":«call»,"sequence":5,"event":{"type":"status","message":"later"}} | nothing | EXT04-PROG-010 |
      | $/progress | {"request_id":«call»,"sequence":5,"event":{"type":"status","message":"again"}} | nothing | EXT04-PROG-010 |
      | $/progress | {"request_id":«call»,"sequence":6,"event":{"type":"decoration","label":"«repeat 5000 l»"}} | nothing | EXT04-PROG-015 |
    Then the host answers as wanted
    And the host says what the tool said

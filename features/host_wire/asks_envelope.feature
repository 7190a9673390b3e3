Feature: A host is asked
  Every request of an extension is answered once, under its id. What is not open to it is refused, and the process goes on.

  @0.1 @0.2 @0.4 @EXT04-ENV-015 @EXT04-ENV-018 @EXT04-ORDER-009 @EXT04-BUS-001
  Scenario: Requests that are refused for their ids or their methods
    Given a sound extension
    When it asks during a call
      | id      | method               | params                                                                                                          | answer                    | rule           |
      |         | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true}                  | result                    | EXT04-ENV-015  |
      | "ask-1" | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true}                  | error invalid_request     | EXT04-ENV-018  |
      |         | conform/unknown      | {"parent_request_id":«call»}                                                                                    | token unsupported_feature | EXT04-ORDER-009 |
      |         | tool/call            | {"name":"echo","arguments":{}}                                                                                  | token unsupported_feature | EXT04-ORDER-009 |
      |         | secret/get           | {"parent_request_id":«call»,"name":"key"}                                                                       | token unsupported_feature | EXT04-ORDER-009 |
      |         | bus/subscribe        | {"binding_id":"b","topic":"bus.peer.news"}                                                                      | error unknown_method      | EXT04-BUS-001  |
    Then the host answers as wanted
    And the host says what the tool said

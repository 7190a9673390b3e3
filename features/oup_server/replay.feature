@v1alpha1
Feature: Ledger and replay

  @OUP-REPLAY-001 @OUP-REPLAY-002 @OUP-REPLAY-003 @OUP-REPLAY-004
  Scenario: Which cursors are taken
    Given a connection
    And a session
    And the event session/open comes with {"session_id":"«session»"}
    Then "cursor" of the event is remembered as "head"
    And each of these calls ends so:
      | rule           | call            | params                                                                             | ends                                                                                                   |
      | OUP-REPLAY-001 | session/hydrate | {"session_id":"«session»","after":"«head»","include":["turns"]}                    | result {"cursor":"«head»"}                                                                             |
      | OUP-REPLAY-001 | session/hydrate | {"session_id":"«session»","after":{"stream":"«session»","seq":0},"include":["turns"]} | result                                                                                              |
      | OUP-REPLAY-002 | session/hydrate | {"session_id":"«session»","after":{"stream":"«session»","seq":999999}}             | error cursor_out_of_range kind cursor_expired data {"ledger_head":"«head»","cursor":{"seq":999999}}    |
      | OUP-REPLAY-002 | session/open    | {"session_id":"«session»","after":{"stream":"«session»","seq":999999}}             | error cursor_out_of_range kind cursor_expired data {"ledger_head":{"seq":"«integer»"}}                 |
      | OUP-REPLAY-003 | session/open    | {"session_id":"«session»","after":{"stream":"another","seq":1}}                    | error cursor_invalid kind cursor_stream_mismatch data {"expected_stream":"«session»","actual_stream":"another"} |
      | OUP-REPLAY-003 | session/hydrate | {"session_id":"«session»","after":{"stream":"another","seq":1}}                    | error cursor_invalid kind cursor_stream_mismatch                                                       |
      | OUP-REPLAY-004 | session/open    | {"session_id":"«session»","after":{"stream":"«session»","seq":"one"}}              | error invalid_params                                                                                   |
      | OUP-REPLAY-004 | session/open    | {"session_id":"«session»","after":7}                                               | error invalid_params                                                                                   |

  @OUP-REPLAY-005
  Scenario: Without a cursor nothing is replayed
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/open with {"session_id":"«session»"}
    Then no event projection/envelope comes

  @OUP-REPLAY-006 @OUP-REPLAY-007 @OUP-REPLAY-016 @OUP-LEDGER-004
  Scenario: What came behind a cursor is told once, in its order
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then these come in order:
      | frame                     | that is                    |
      | answer                    | {"opened":"«any»"}         |
      | event turn/started        | {"turn_id":"«turn»"}       |
      | piece user_message        |                            |
      | piece assistant_delta     |                            |
      | piece assistant_persisted |                            |
      | piece turn_terminal       |                            |
      | event session/open        | {"session_id":"«session»"} |
    And the event turn/started comes once with {"turn_id":"«turn»"}
    And the event projection/envelope comes once with {"turn_id":"«turn»","payload":{"type":"turn_terminal"}}
    And no frame breaks a rule of this scenario

  @OUP-REPLAY-008
  Scenario: What a gate closes is left out of a replay
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When the client calls session/compact with {"session_id":"«session»"}
    Then the event context/compaction_completed comes
    When the client calls client_hello with {"supported_features":["approval.typed.v1"]}
    And the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then no event context/compaction_completed comes

  @OUP-REPLAY-007 @OUP-REPLAY-010
  Scenario: What waits is offered again
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client calls session/open with {"session_id":"«session»"}
    Then these come in order:
      | frame                    | that is                      |
      | answer                   |                              |
      | event approval/requested | {"approval_id":"«approval»"} |
      | event session/open       |                              |
    And the event approval/requested comes once with {"approval_id":"«approval»","turn_id":"«turn»"}
    When the client denies
    Then the turn ends completed
    When the client calls session/open with {"session_id":"«session»"}
    Then no event approval/requested comes

  @OUP-REPLAY-012 @OUP-PROGRESS-006
  Scenario: The newest plan is told again, before the open
    Given a connection
    And the server serves plan.todos.v1
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that makes a plan
    Then the event plan/updated comes with {"plan":{"items":"«list»"}}
    And the turn ends completed
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then these come in order:
      | frame              | that is |
      | event plan/updated |         |
      | event session/open |         |
    And the event plan/updated comes once

  @OUP-REPLAY-013
  Scenario: Opening again ends the lane before
    Given a connection
    And a session
    When the client calls session/open with {"session_id":"«session»"}
    And a turn starts that says something
    Then the turn ends completed
    And no frame breaks a rule of this scenario

  @OUP-HYDRATE-001 @OUP-HYDRATE-003 @OUP-HYDRATE-004 @OUP-HYDRATE-005 @OUP-HYDRATE-006
  Scenario: Sections of a hydrate
    Given a connection
    And a session
    And the event session/open comes with {"session_id":"«session»"}
    Then "cursor" of the event is remembered as "head"
    And each of these calls ends so:
      | rule            | call            | params                                                              | ends                                                                                          |
      | OUP-HYDRATE-001 | session/hydrate | {"session_id":"local:nobody"}                                       | error unknown_session                                                                         |
      | OUP-HYDRATE-003 | session/hydrate | {"session_id":"«session»"}                                          | result {"messages":"«list»","threads":"«list»","turns":"«list»","pending_approvals":"«list»"} |
      | OUP-HYDRATE-003 | session/hydrate | {"session_id":"«session»","include":[]}                             | result {"messages":"«list»","threads":"«list»","turns":"«list»","pending_approvals":"«list»"} |
      | OUP-HYDRATE-004 | session/hydrate | {"session_id":"«session»","include":["nobody","turns"]}             | result {"messages":"«absent»","turns":"«list»"}                                               |
      | OUP-HYDRATE-004 | session/hydrate | {"session_id":"«session»","include":["nobody"]}                     | result {"messages":"«absent»","turns":"«absent»","threads":"«absent»","pending_approvals":"«absent»"} |
      | OUP-HYDRATE-005 | session/hydrate | {"session_id":"«session»","include":[«list 33 "word%d"»]}           | error invalid_params kind include_too_large data {"limit":32}                                 |
      | OUP-HYDRATE-006 | session/hydrate | {"session_id":"«session»","include":["turns"]}                      | result {"turns":[],"messages":"«absent»","threads":"«absent»"}                                |
      | OUP-HYDRATE-001 | session/hydrate | {"session_id":"«session»","include":["turns"]}                      | result {"cursor":"«head»"}                                                                    |

  @OUP-HYDRATE-002 @OUP-HYDRATE-008 @OUP-HYDRATE-009 @OUP-HYDRATE-010 @OUP-HYDRATE-011 @OUP-HYDRATE-012
  Scenario: What a hydrate tells of turns
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that says something
    Then the turn ends completed
    When a turn starts that says something
    Then the turn ends completed
    And "cursor" of the event is remembered as "end"
    And each of these calls ends so:
      | rule            | call            | params                                                | ends                                                                                                       |
      | OUP-HYDRATE-002 | session/hydrate | {"session_id":"«session»","after":"«start»"}          | result {"cursor":{"stream":"«session»","seq":"«at least end.seq»"}}                                         |
      | OUP-HYDRATE-008 | session/hydrate | {"session_id":"«session»","include":["turns"]}        | result {"turns":[{"turn_id":"«turn before»","state":"completed"},{"turn_id":"«turn»","state":"completed"}]} |
      | OUP-HYDRATE-009 | session/hydrate | {"session_id":"«session»","after":"«end»"}            | result {"messages":["«some»",{"turn_id":"«turn before»"}],"projection_envelopes":["«none»",{"turn_id":"«turn before»"}]} |
      | OUP-HYDRATE-010 | session/hydrate | {"session_id":"«session»","after":"«start»"}          | result {"projection_envelopes":["«some»",{"turn_id":"«turn»"}],"replayed_projection_envelopes":["«some»",{"turn_id":"«turn»"}],"projection_snapshot":{"envelopes":["«some»",{"turn_id":"«turn»"}]}} |
      | OUP-HYDRATE-011 | session/hydrate | {"session_id":"«session»","after":"«start»"}          | result {"projection_thread_sequences":{"«turn»":"«integer»"}}                                               |
      | OUP-HYDRATE-012 | session/hydrate | {"session_id":"«session»","after":"«start»"}          | result {"projection_envelopes":["«each»",{"session_id":"«absent»","topic":"«absent»"}]}                     |

  @OUP-HYDRATE-007
  Scenario: Questions stand beside approvals
    Given a connection
    And the server serves user_question.v1
    And a session
    When a turn starts that asks a question
    Then the turn asks the person
    When the client calls session/hydrate with {"session_id":"«session»","include":["pending_approvals"]}
    Then the answer is {"pending_questions":[{"question_id":"«question»"}]}
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the turn ends interrupted

  @OUP-LEDGER-005 @OUP-LEDGER-006 @websocket
  Scenario: What was told is there when a server that died comes back
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that says something
    Then the turn ends completed
    And "cursor.seq" of the event is remembered as "last"
    When the server is killed and started again
    Given a connection
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then the answer is {"opened":{"cursor":{"seq":"«above last»"}}}
    And the event projection/envelope comes with {"turn_id":"«turn»","payload":{"type":"turn_terminal"}}

  @OUP-LEDGER-008 @OUP-LEDGER-009 @OUP-LEDGER-010 @websocket
  Scenario: A turn that died with its server has one end
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the server is killed and started again
    Given a connection
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then these come in order:
      | frame                    | that is                                                           |
      | event approval/cancelled | {"approval_id":"«approval»"}                                      |
      | piece turn_terminal      | {"outcome":"errored","error":{"code":"orphaned_by_restart"}}      |
      | event session/open       |                                                                   |
    And the event projection/envelope comes once with {"turn_id":"«turn»","payload":{"type":"turn_terminal"}}

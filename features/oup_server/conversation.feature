@v1alpha1
Feature: What is done with a conversation

  @OUP-ROLLBACK-001 @OUP-ROLLBACK-004 @OUP-ROLLBACK-005 @OUP-ROLLBACK-006 @OUP-ROLLBACK-007
  Scenario: Turns are taken out
    Given a connection
    And a session
    Then "opened.cursor" of the answer is remembered as "start"
    When a turn starts that says something
    Then the turn ends completed
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/hydrate with {"session_id":"«session»","include":["turns"]}
    Then "cursor" of the answer is remembered as "head"
    And each of these calls ends so:
      | rule             | call                  | params                                                | ends                                                                                                              |
      | OUP-ROLLBACK-001 | session/rollback      | {"session_id":"«session»","num_turns":0}              | error invalid_params kind invalid_num_turns                                                                       |
      | OUP-ROLLBACK-006 | session/rollback      | {"session_id":"«session»","num_turns":1}              | result {"dropped_turns":1,"thread":{"cursor":"«head»","turns":[{"turn_id":"«turn before»"}]}}                     |
      | OUP-ROLLBACK-004 | session/hydrate       | {"session_id":"«session»","include":["turns"]}        | result {"cursor":{"seq":"«above head.seq»"}}                                                                      |
      | OUP-ROLLBACK-005 | session/messages_page | {"session_id":"«session»"}                            | result {"messages":["«none»",{"thread_id":"«turn»"}]}                                                             |
      | OUP-ROLLBACK-005 | session/hydrate       | {"session_id":"«session»"}                            | result {"messages":["«none»",{"turn_id":"«turn»"}],"turns":[{"turn_id":"«turn before»"}]}                         |
      | OUP-ROLLBACK-007 | session/rollback      | {"session_id":"«session»","num_turns":99}             | result {"dropped_turns":1,"thread":{"turns":[],"pending_approvals":"«absent»","projection_envelopes":"«absent»","context":"«absent»"}} |
      | OUP-ROLLBACK-001 | session/rollback      | {"session_id":"«session»","num_turns":99}             | result {"thread":{"messages":[]}}                                                                                 |
    When the client calls session/open with {"session_id":"«session»","after":"«start»"}
    Then the event projection/envelope comes with {"turn_id":"«turn»","payload":{"type":"turn_terminal"}}

  @OUP-ROLLBACK-002 @OUP-ASIDE-002
  Scenario: What is refused while a turn runs, and what is not
    Given a connection
    And a session
    When a turn starts that takes long
    Then the turn has said something
    And each of these calls ends so:
      | rule             | call             | params                                                  | ends                                             |
      | OUP-ROLLBACK-002 | session/rollback | {"session_id":"«session»","num_turns":1}                | error invalid_params kind turn_in_progress       |
      | OUP-ASIDE-002    | session/btw      | {"session_id":"«session»","question":"What is it?"}     | result {"answer":"«text»"}                       |
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the turn ends interrupted

  @OUP-PREVIEW-006
  Scenario: Nothing is restored while a turn runs
    Given a server of its own
    And a connection
    And a session
    When a turn starts that changes a file
    Then the turn ends completed
    When the client calls snapshot/list with {"session_id":"«session»"}
    Then "snapshots.0.id" of the answer is remembered as "shot"
    When a turn starts that takes long
    Then the turn has said something
    When the client calls snapshot/restore with {"session_id":"«session»","snapshot_id":"«shot»"}
    Then the error is invalid_params
    When the client calls turn/interrupt with {"session_id":"«session»","turn_id":"«turn»"}
    Then the turn ends interrupted

  @OUP-PREVIEW-004 @OUP-PREVIEW-005
  Scenario: A restore takes a snapshot first
    Given a server of its own
    And a connection
    And a session
    When a turn starts that changes a file
    Then the turn ends completed
    When the client calls snapshot/list with {"session_id":"«session»"}
    Then "snapshots.0.id" of the answer is remembered as "shot"
    And each of these calls ends so:
      | rule            | call             | params                                                  | ends                                                                        |
      | OUP-PREVIEW-005 | snapshot/restore | {"session_id":"«session»","snapshot_id":"«shot»"}       | result {"restored":"«shot»","snapshots":["«some»",{"id":"«other than shot»"}]} |
      | OUP-PREVIEW-004 | snapshot/list    | {"session_id":"«session»"}                              | result {"snapshots":{"0":{"id":"«other than shot»"}}}                       |

  @OUP-PREVIEW-001 @OUP-PREVIEW-002
  Scenario: A change is shown to its own session, within its bounds
    Given a server of its own
    And a connection
    And a session "other"
    And a session
    When a turn starts that changes a file
    Then the event progress/updated comes with {"metadata":{"kind":"file_mutation","file_mutation":{"preview_id":"«uuid»"}}}
    And "metadata.file_mutation.preview_id" of the event is remembered as "preview"
    And the turn ends completed
    And each of these calls ends so:
      | rule            | call             | params                                                  | ends                                                                                   |
      | OUP-PREVIEW-001 | diff/preview/get | {"session_id":"«other»","preview_id":"«preview»"}       | error unknown_preview_id kind unknown_preview data {"preview_id":"«preview»"}          |
      | OUP-PREVIEW-001 | diff/preview/get | {"session_id":"«session»","preview_id":"«uuid»"}        | error unknown_preview_id kind unknown_preview                                          |
      | OUP-PREVIEW-002 | diff/preview/get | {"session_id":"«session»","preview_id":"«preview»"}     | result {"status":"ready","preview":{"files":["«each»",{"path":"«lacks ..»"}]}}         |

  @OUP-FORK-001 @OUP-FORK-002 @OUP-FORK-003 @OUP-FORK-004 @OUP-FORK-005
  Scenario: Forks
    Given a connection
    And a session with {"topic":"one"}
    When a turn starts that says something
    Then the turn ends completed
    And each of these calls ends so:
      | rule         | call                  | params                                                                       | ends                                                                           |
      | OUP-FORK-002 | session/fork          | {"session_id":"«session»","new_chat_id":"a b"}                               | error invalid_params kind invalid_new_chat_id                                  |
      | OUP-FORK-002 | session/fork          | {"session_id":"«session»","new_chat_id":"«repeat 129 x»"}                    | error invalid_params kind invalid_new_chat_id                                  |
      | OUP-FORK-001 | session/fork          | {"session_id":"«session»","new_chat_id":"fork.1-«unique»"}                            | result {"new_session_id":"local:fork.1-«unique»","parent_session_id":"«session»"}       |
      | OUP-FORK-003 | session/fork          | {"session_id":"«session»","new_chat_id":"fork.1-«unique»"}                            | error invalid_params kind child_exists                                         |
      | OUP-FORK-004 | session/fork          | {"session_id":"«session»","new_chat_id":"fork.2-«unique»","copy_messages":1}          | result {"copied_messages":1}                                                   |
      | OUP-FORK-004 | session/messages_page | {"session_id":"local:fork.2-«unique»"}                                                | result {"messages":[{"role":"assistant"}]}                                     |
    And no event session/open comes with {"session_id":"local:fork.2-«unique»"}
    And no event warning comes
    And no frame breaks a rule of this scenario

  @OUP-FORK-005
  Scenario: A fork is not opened
    Given a connection
    And a session
    When the client calls session/fork with {"session_id":"«session»","new_chat_id":"fork.3-«unique»"}
    Then the answer is {"copied_messages":0}
    And no event warning comes

  @OUP-ASIDE-001 @OUP-ASIDE-003
  Scenario: A question aside leaves nothing behind
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule          | call                  | params                                                | ends                                    |
      | OUP-ASIDE-003 | session/btw           | {"session_id":"«session»","question":"  "}            | error invalid_params                    |
      | OUP-ASIDE-001 | session/btw           | {"session_id":"«session»","question":"What is it?"}   | result {"answer":"«text»"}              |
      | OUP-ASIDE-001 | session/messages_page | {"session_id":"«session»"}                            | result {"messages":[]}                  |

  @OUP-COMPACT-001 @OUP-PROGRESS-008
  Scenario: A pass by hand is told from its start to its end
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/compact with {"session_id":"«session»"}
    Then these come in order:
      | frame                              | that is                              |
      | event context/compaction_started   | {"trigger":"manual"}                 |
      | event context/compaction_completed | {"compaction":{"trigger":"manual"}}  |

  @OUP-APPEND-001 @OUP-APPEND-002 @OUP-APPEND-003
  Scenario: Messages are added without a turn
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule           | call                   | params                                                                                                             | ends                                  |
      | OUP-APPEND-003 | session/append_message | {"session_id":"«session»","role":"assistant","content":"An answer to nothing.","source":"test"}                    | error invalid_params                  |
      | OUP-APPEND-003 | session/append_message | {"session_id":"«session»","role":"user","content":"  ","source":"test"}                                            | error invalid_params                  |
      | OUP-APPEND-003 | session/append_message | {"session_id":"«session»","role":"user","content":"a","source":"«repeat 201 x»"}                                   | error invalid_params                  |
      | OUP-APPEND-003 | session/append_message | {"session_id":"local:refused-«unique»","role":"assistant","content":"An answer to nothing.","source":"test"}       | error invalid_params                  |
      | OUP-APPEND-003 | session/status/read    | {"session_id":"local:refused-«unique»"}                                                                            | error unknown_session                 |
      | OUP-APPEND-001 | session/append_message | {"session_id":"local:appended-«unique»","role":"user","content":"Hello.","source":"test","client_message_id":"m1"}          | result {"session_id":"local:appended-«unique»"} |
      | OUP-APPEND-002 | session/append_message | {"session_id":"local:appended-«unique»","role":"user","content":"Hello.","source":"test","client_message_id":"m1"}          | result {"session_id":"local:appended-«unique»"} |
      | OUP-APPEND-002 | session/messages_page  | {"session_id":"local:appended-«unique»"}                                                                                    | result {"messages":[{"role":"user","content":"Hello."}]} |

  @OUP-APPEND-006
  Scenario: What is asked behind a message finds it
    Given a connection
    Then these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":"«id»","method":"session/append_message","params":{"session_id":"local:first-«unique»","role":"user","content":"Hello.","source":"test"}}
      {"jsonrpc":"2.0","id":"«id»","method":"session/messages_page","params":{"session_id":"local:first-«unique»"}}
      """
    And the answer is {"messages":[{"role":"user","content":"Hello."}]}
    And these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":"«id»","method":"session/append_message","params":{"session_id":"local:first-«unique»","role":"user","content":"Again.","source":"test"}}
      {"jsonrpc":"2.0","id":"«id»","method":"session/delete","params":{"session_id":"local:first-«unique»"}}
      """
    And each of these calls ends so:
      | rule           | call                | params                                | ends                  |
      | OUP-APPEND-006 | session/status/read | {"session_id":"local:first-«unique»"} | error unknown_session |

  @OUP-APPEND-004
  Scenario: What was added is told, but for what the system says
    Given a connection
    And a session
    When the client calls session/append_message with {"session_id":"«session»","role":"user","content":"Hello.","source":"test"}
    Then the event projection/envelope comes with {"payload":{"type":"user_message","data":{"text":"Hello."}}}
    When the client calls session/append_message with {"session_id":"«session»","role":"assistant","content":"Good day.","source":"test"}
    Then the event projection/envelope comes with {"payload":{"type":"assistant_persisted","data":{"text":"Good day."}}}
    When the client calls session/append_message with {"session_id":"«session»","role":"system","content":"Be kind.","source":"test"}
    Then no event projection/envelope comes

  @OUP-THREAD-001 @OUP-THREAD-002 @OUP-THREAD-003
  Scenario: The graph of a conversation
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    And each of these calls ends so:
      | rule           | call             | params                                                                  | ends                                                                     |
      | OUP-THREAD-001 | thread/graph/get | {"session_id":"«session»","at":{"stream":"«session»","seq":1}}          | result {"cursor":{"stream":"«session»","seq":1}}                         |
      | OUP-THREAD-002 | thread/graph/get | {"session_id":"«session»"}                                              | result {"threads":[{"thread_id":"«turn»","status":"completed"}],"orphans":[]} |
      | OUP-THREAD-003 | thread/graph/get | {"session_id":"local:nobody"}                                           | error unknown_session                                                    |

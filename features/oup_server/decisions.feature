@v1alpha1
Feature: Approvals, questions and permissions

  @OUP-APPROVAL-001 @OUP-APPROVAL-002 @OUP-APPROVAL-003 @OUP-APPROVAL-016 @OUP-APPROVAL-017 @OUP-PROGRESS-013
  Scenario: A tool runs once it is approved
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    And the event approval/requested comes with {"tool_name":"«text»","title":"«text»","body":"«text»","risk":"«absent or unspecified»"}
    And no event projection/envelope comes with {"payload":{"type":"tool_end"}}
    When the client approves
    Then the answer is {"approval_id":"«approval»","accepted":true,"status":"accepted","runtime_resumed":true}
    And the turn ends completed
    And these came in order:
      | frame                  | that is                                                                                              |
      | event approval/decided | {"approval_id":"«approval»","decision":"approve","decided_by":"«empty or profile»","decided_at":"«moment»"} |
      | answer                 | {"approval_id":"«approval»"}                                                                         |
      | piece tool_end         | {"status":"complete"}                                                                                |
    And no frame breaks a rule of this scenario

  @OUP-APPROVAL-001 @OUP-STREAM-013
  Scenario: A tool that is denied does not run
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client denies
    Then the turn ends completed
    And these came in order:
      | frame                  | that is                                                 |
      | event approval/decided | {"approval_id":"«approval»","decision":"deny"}          |
      | piece tool_end         | {"status":"skipped","output_preview":"«absent»"}        |

  @OUP-APPROVAL-001
  Scenario: Every other word counts as deny
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client calls approval/respond with {"session_id":"«session»","approval_id":"«approval»","decision":"perhaps"}
    Then the turn ends completed
    And these came in order:
      | frame                  | that is                  |
      | piece tool_end         | {"status":"skipped"}     |

  @OUP-APPROVAL-006 @OUP-APPROVAL-008 @OUP-APPROVAL-009
  Scenario: A request is decided once, by its own session
    Given a connection
    And a session "other"
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    And each of these calls ends so:
      | rule             | call             | params                                                                     | ends                                                                                      |
      | OUP-APPROVAL-008 | approval/respond | {"session_id":"«other»","approval_id":"«approval»","decision":"approve"}   | error unknown_approval_id kind unknown_approval data {"approval_id":"«approval»"}         |
      | OUP-APPROVAL-008 | approval/respond | {"session_id":"«session»","approval_id":"«uuid»","decision":"approve"}     | error unknown_approval_id kind unknown_approval                                           |
      | OUP-APPROVAL-009 | approval/respond | {"approval_id":"«approval»","decision":"approve"}                          | error invalid_params                                                                      |
      | OUP-APPROVAL-006 | approval/respond | {"session_id":"«session»","approval_id":"«approval»","decision":"deny"}    | result {"accepted":true}                                                                  |
      | OUP-APPROVAL-006 | approval/respond | {"session_id":"«session»","approval_id":"«approval»","decision":"approve"} | error approval_not_pending kind approval_not_pending data {"recorded_decision":"deny"}    |

  @OUP-APPROVAL-005
  Scenario: A decision for the session is remembered, and told to be
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client approves with {"approval_scope":"session"}
    Then the turn ends completed
    When a turn starts that needs an approval
    Then the turn ends completed
    And these came in order:
      | frame                        | that is                                                                  |
      | event approval/auto_resolved | {"turn_id":"«turn»","scope":"session","decision":"approve"}              |
      | event approval/decided       | {"turn_id":"«turn»","auto_resolved":true,"decision":"approve"}           |

  @OUP-APPROVAL-004
  Scenario: The nearest decision holds
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client approves with {"approval_scope":"session"}
    Then the turn ends completed
    When the client calls approval/scopes/list with {"session_id":"«session»"}
    Then the answer is {"scopes":[{"scope":"session","decision":"approve"}]}

  @OUP-APPROVAL-004
  Scenario: A denial for the tool is remembered as well
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client denies with {"approval_scope":"tool"}
    Then the turn ends completed
    When a turn starts that needs an approval
    Then the event approval/auto_resolved comes with {"scope":"tool","decision":"deny"}
    And the turn ends completed

  @OUP-APPROVAL-004
  Scenario: A decision of the turn goes before one of the session
    Given a connection
    And a session
    When a turn starts that needs two approvals
    Then the turn asks for an approval
    When the client denies with {"approval_scope":"turn"}
    Then the event approval/auto_resolved comes with {"scope":"turn","decision":"deny"}
    And the turn ends completed

  @OUP-APPROVAL-010
  Scenario: An unknown scope is for the request alone
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client approves with {"approval_scope":"for ever"}
    Then the turn ends completed
    When the client calls approval/scopes/list with {"session_id":"«session»"}
    Then the answer is {"scopes":[]}

  @OUP-APPROVAL-011
  Scenario: A decision of a turn is forgotten at its end
    Given a connection
    And a session
    When a turn starts that needs an approval
    Then the turn asks for an approval
    When the client approves with {"approval_scope":"turn"}
    Then the turn ends completed
    When the client calls approval/scopes/list with {"session_id":"«session»"}
    Then the answer is {"scopes":[]}

  @OUP-QUESTION-001
  Scenario: Who cannot be asked is not asked
    Given a connection that names "state.session_hydrate.v1"
    And a session
    When a turn starts that asks a question
    Then the turn ends completed
    And no event user_question/requested comes

  @OUP-QUESTION-002 @OUP-QUESTION-003 @OUP-QUESTION-004 @OUP-QUESTION-005 @OUP-QUESTION-006 @OUP-QUESTION-007 @OUP-PROGRESS-013
  Scenario: Questions are answered once, and well
    Given a connection
    And the server serves user_question.v1
    And a session "other"
    And a session
    When a turn starts that asks a question
    Then the turn asks the person
    And "questions.0.options.0.label" of the event is remembered as "label"
    And each of these calls ends so:
      | rule             | call                  | params                                                                                                      | ends                                                                    |
      | OUP-QUESTION-007 | user_question/respond | {"session_id":"«other»","question_id":"«question»","answers":[{"selected_labels":["«label»"]}]}             | error user_question_unknown kind user_question_unknown                  |
      | OUP-QUESTION-007 | user_question/respond | {"session_id":"«session»","question_id":"«uuid»","answers":[{"selected_labels":["«label»"]}]}               | error user_question_unknown kind user_question_unknown                  |
      | OUP-QUESTION-005 | user_question/respond | {"session_id":"«session»","question_id":"«question»","answers":[]}                                          | error user_question_invalid kind user_question_invalid                  |
      | OUP-QUESTION-005 | user_question/respond | {"session_id":"«session»","question_id":"«question»","answers":[{"selected_labels":["nothing of that kind"]}]} | error user_question_invalid kind user_question_invalid               |
      | OUP-QUESTION-005 | user_question/respond | {"session_id":"«session»","question_id":"«question»","answers":[{"selected_labels":["«label»"]}]}           | result {"question_id":"«question»","accepted":true}                     |
      | OUP-QUESTION-006 | user_question/respond | {"session_id":"«session»","question_id":"«question»","answers":[{"selected_labels":["«label»"]}]}           | error user_question_stale kind user_question_stale data {"reason":"already_answered"} |
    And the turn ends completed

  @OUP-PERMISSION-001 @OUP-PERMISSION-002 @OUP-PERMISSION-006 @OUP-PERMISSION-008
  Scenario: Permissions
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule               | call                    | params                                                               | ends                                                                                             |
      | OUP-PERMISSION-001 | permission/profile/list | {"session_id":"«session»"}                                           | result {"current":{"mode":"«text»","network":"«text»"}}                                          |
      | OUP-PERMISSION-001 | permission/profile/set  | {"session_id":"«session»","update":{"mode":"read_only"}}             | result {"current":{"mode":"read_only","network":"deny"},"applied":true}                          |
      | OUP-PERMISSION-008 | permission/profile/set  | {"session_id":"«session»","update":{"mode":"read_only"}}             | result {"current":{"mode":"read_only","network":"deny"},"applied":false}                         |
      | OUP-PERMISSION-002 | permission/profile/set  | {"session_id":"«session»","update":{"mode":"workspace-write"}}       | result {"current":{"mode":"workspace_write"},"applied":true}                                     |
      | OUP-PERMISSION-006 | permission/profile/set  | {"session_id":"«session»","update":{"approval_policy":"sometimes"}}  | error invalid_params kind permission_profile_invalid_approval_policy data {"approval_policy":"sometimes"} |

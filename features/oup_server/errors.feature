@v1alpha1
Feature: Errors

  @OUP-ERROR-001 @OUP-ERROR-002 @OUP-ERROR-003 @OUP-ERROR-006 @OUP-ERROR-008 @OUP-ERROR-011 @OUP-SERVICE-021
  Scenario: Every refusal has its code, its kind and its detail
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule            | call                  | params                                                                                 | ends                                                                                     |
      | OUP-ERROR-002   | nobody/knows          | {}                                                                                     | error method_not_found                                                                   |
      | OUP-ERROR-001   | session/delete        | {"session_id":"local:nobody"}                                                          | error unknown_session kind unknown_session                                               |
      | OUP-ERROR-006   | session/title.set     | {"session_id":"«session»","title":7}                                                   | error invalid_params                                                                     |
      | OUP-ERROR-006   | session/title.set     | {"session_id":7,"title":"a"}                                                           | error invalid_params                                                                     |
      | OUP-ERROR-006   | session/open          | {}                                                                                     | error invalid_params                                                                     |
      | OUP-ERROR-011   | session/status/read   | {"session_id":"local:nobody"}                                                          | error unknown_session kind unknown_session data {"session_id":"local:nobody"}            |
      | OUP-ERROR-008   | approval/respond      | {"session_id":"«session»","approval_id":"«uuid»","decision":"deny"}                    | error unknown_approval_id kind unknown_approval data {"session_id":"«session»"}          |
      | OUP-ERROR-008   | user_question/respond | {"session_id":"«session»","question_id":"«uuid»","answers":[]}                         | error user_question_unknown kind user_question_unknown                                   |

  @OUP-ERROR-001 @OUP-ERROR-003 @OUP-SERVICE-021
  Scenario: What is not served is refused with its name and a reason
    Given a connection that names "approval.typed.v1"
    And a session
    Then each of these calls ends so:
      | rule            | call              | params                                | ends                                                                              |
      | OUP-ERROR-003   | session/list      | {}                                    | error method_not_supported data {"method":"session/list","reason":"«text»"}        |
      | OUP-SERVICE-021 | agent/list        | {}                                    | error method_not_supported data {"method":"agent/list","reason":"«text»"}          |

  @OUP-ERROR-001
  Scenario: Data is there only where there is something to say
    Given a connection
    And a session
    When the client calls session/title.set with {"session_id":"«session»","title":""}
    Then the error is invalid_params
    And no frame breaks a rule of this scenario

  @OUP-ERROR-007
  Scenario: A failure inside a turn is told by its end
    Given a connection
    And a session
    When a turn starts that fails
    Then the answer is {"accepted":true}
    And the turn ends errored with {"error":{"code":"«text»","message":"«text»"}}

  @OUP-ERROR-012
  Scenario: An unknown task is named
    Given a connection
    And a session
    When the client calls task/cancel with {"session_id":"«session»","task_id":"«uuid»"}
    Then the error is unknown_task_id of kind unknown_task with {"task_id":"«uuid»"}

  @OUP-ERROR-014
  Scenario: What is refused changes nothing
    Given a connection
    And a session
    When the client calls session/title.set with {"session_id":"«session»","title":"kept"}
    And the client calls session/title.set with {"session_id":"local:nobody","title":"changed"}
    And the client calls session/list
    Then the answer is {"sessions":["«some»",{"id":"«session»","title":"kept"}]}
